"""How a child died, told from what is left of it."""

import signal
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.errors import StoryshelfError
from storyshelf.ids import StoryId


class Death(StrEnum):
    """What ended a child before its work was done."""

    SIGNAL = "signal"  # killed by someone else, or crashed
    OUT_OF_MEMORY = "out_of_memory"
    EXIT = "exit"  # ended by itself without being asked to
    HUNG = "hung"  # its time passed without a sign of life
    DEADLINE = "deadline"  # its time passed although it reported progress
    VIOLATION = "violation"  # it broke the protocol: not to be believed again
    STOPPED = "stopped"  # by its consumer, which is no fault of the story in flight

    @property
    def in_words(self) -> str:
        """As people read it in an error."""
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Remains:
    """What can be seen of a dead child."""

    returncode: int  # as subprocess gives it: minus the signal
    oom_kills: int  # of our memory cgroup, while the child lived
    last_words: str  # the end of its stderr


@dataclass(frozen=True, slots=True)
class Cause:
    """A death and one line about it."""

    how: Death
    detail: str


class ChildDiedError(StoryshelfError):
    """The child is gone; `story` is what was being rendered for this request, if anything was."""

    def __init__(self, cause: Cause, story: StoryId | None) -> None:
        super().__init__(
            f"the browser process died: {cause.detail}",
            where=f"story {story}" if story else "no story in flight",
            next_step="It is started again; a story on which it dies twice is reported as errored.",
        )
        self.how = cause.how
        self.detail = cause.detail
        self.story = story


def autopsy(remains: Remains) -> Cause:
    """Tell the cause of a death that nobody here brought about."""
    words = f"; it last said: {remains.last_words}" if remains.last_words else ""
    if remains.returncode >= 0:
        return Cause(Death.EXIT, f"exit code {remains.returncode}{words}")
    if remains.returncode == -signal.SIGKILL and remains.oom_kills:
        return Cause(Death.OUT_OF_MEMORY, f"killed by the kernel for want of memory{words}")
    return Cause(Death.SIGNAL, f"signal {_signal_name(-remains.returncode)}{words}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return str(number)
