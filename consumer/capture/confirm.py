"""Concludes about a picture that differs from its baseline, once a fresh page has shown it again.

A change counts only if a page that shares nothing with the first one draws it too.
"""

from dataclasses import dataclass
from enum import StrEnum

from storyshelf.diff.outcome import Outcome
from storyshelf.ids import BlobKey

SAME = frozenset({Outcome.IDENTICAL, Outcome.WITHIN_TOLERANCE})


class Conclusion(StrEnum):
    """What is known of the story after both pictures."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    UNSTABLE = "unstable"


@dataclass(frozen=True, slots=True)
class Seen:
    """One picture of the story, and how it compares with the baseline."""

    key: BlobKey
    against_baseline: Outcome


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The conclusion, why, the picture that stands for the story, and all frames if unstable."""

    conclusion: Conclusion
    reason: str
    head: BlobKey
    frames: tuple[BlobKey, ...] = ()


def needs_second(first: Seen) -> bool:
    """Tell whether the first picture must be seen again before anything is said."""
    return first.against_baseline not in SAME


def conclude(first: Seen, second: Seen, between: Outcome) -> Confirmed:
    """Conclude from a first picture that differs and one from a fresh page.

    `between` compares the two with each other. The second is the one that counts where they agree:
    nothing can have leaked into it.
    """
    if second.against_baseline in SAME:
        reason = "A fresh page shows the baseline; the first page was disturbed by what ran before."
        return Confirmed(Conclusion.UNCHANGED, reason, second.key)
    if first.key == second.key:
        reason = "A fresh page shows the same picture, byte for byte."
        return Confirmed(Conclusion.CHANGED, reason, second.key)
    if between in SAME:
        reason = "A fresh page shows the same picture within the tolerance."
        return Confirmed(Conclusion.CHANGED, reason, second.key)
    reason = "The story does not hold still: two pages showed two pictures, neither the baseline."
    return Confirmed(Conclusion.UNSTABLE, reason, second.key, (first.key, second.key))
