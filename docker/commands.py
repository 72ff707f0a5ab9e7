"""Programs that are started and must end well."""

import subprocess
from collections.abc import Sequence

from storyshelf.errors import StoryshelfError

SAID_CHARACTERS = 3000


class CommandFailedError(StoryshelfError):
    """A program that builds or runs images ended with a failure."""

    def __init__(self, command: Sequence[str], said: str) -> None:
        super().__init__(
            f"`{' '.join(command)}` failed:\n{said.strip()[-SAID_CHARACTERS:]}\n",
            next_step="Mend what it says, and run `make images` again.",
        )


def ask(*command: str) -> str:
    """Return what the program prints; raises CommandFailedError with all it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandFailedError(command, done.stdout + done.stderr)
    return done.stdout


def succeeds(command: Sequence[str], within_s: float) -> bool:
    """Tell whether the program is there and ends well in time."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=within_s)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
