"""How long a capture may still take: every call gets a share, and none gets more than is left."""

from dataclasses import dataclass

from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError

CALL_S = 10.0  # one question to a live page takes 1-14 ms, also under load


class CallDeadlineError(StoryshelfError):
    """A call to the browser was not answered in time."""

    def __init__(self, doing: str, seconds: float) -> None:
        super().__init__(f"{doing} was not done after {seconds:.1f} s")


class OutOfTimeError(StoryshelfError):
    """The story used up all the time that it was given."""

    def __init__(self) -> None:
        super().__init__("the story took all the time there was for it")


@dataclass(frozen=True, slots=True)
class Budget:
    """The monotonic time at which the work must be over."""

    clock: Clock
    ends_at: float

    @classmethod
    def of_ms(cls, clock: Clock, milliseconds: float) -> "Budget":
        """Start a budget of that long now."""
        return cls(clock, clock.monotonic() + milliseconds / 1_000)

    def left_s(self) -> float:
        """Return what is left, never less than nothing."""
        return max(0.0, self.ends_at - self.clock.monotonic())

    def at_most(self, seconds: float) -> float:
        """Return what one call may take; raise OutOfTimeError if there is no time for it."""
        left = self.left_s()
        if left <= 0:
            raise OutOfTimeError
        return min(seconds, left)

    def at_most_keeping(self, seconds: float, kept_s: float) -> float:
        """Return what a wait may take that leaves that much for what follows, or half."""
        left = self.at_most(seconds + kept_s)
        return min(seconds, max(left - kept_s, left / 2))
