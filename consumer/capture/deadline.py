"""How long a capture may still take: every call gets a share, and none gets more than is left."""

from dataclasses import dataclass

from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError

CALL_S = 10.0  # one question to a live page takes 1-14 ms, also under load


class CallDeadlineError(StoryshelfError):
    """A call to the browser was not answered in time."""

    def __init__(self, doing: str, seconds: float) -> None:
        super().__init__(f"{doing} was not done after {seconds:.1f} s")


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
        """Return what one call may take."""
        return min(seconds, self.left_s())
