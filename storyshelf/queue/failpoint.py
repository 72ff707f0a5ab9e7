"""Named places where a test may end the process; in production they do nothing."""

from collections.abc import Callable
from enum import StrEnum


class Place(StrEnum):
    """Where an attempt can be cut off; each is between two things that must not both be lost."""

    AFTER_CLAIM = "after_claim"
    AFTER_BLOBS = "after_blobs"  # content is stored, no row names it yet
    AFTER_PROGRESS = "after_progress"
    AFTER_SAID = "after_said"  # a forge knows it, and we do not know that it does
    BEFORE_SETTLE = "before_settle"
    AFTER_SETTLE = "after_settle"  # committed, but nobody has read the answer


Failpoint = Callable[[str], None]


def no_failpoint(_place: str) -> None:
    """Go on."""
