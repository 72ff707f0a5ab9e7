"""Tells of a picture that is ignored as a whole: what nobody compares must not look unchanged."""

from collections.abc import Iterable

from consumer.kinds.finding import regions_of
from consumer.messages import Box, Captured
from storyshelf.diff.cover import is_covered
from storyshelf.snapshots.snapshot import Notice

TEXT = "What is to be ignored, here or in the baseline, covers all of it: no change can be found."


def nothing_compared(captured: Captured, ignored: Iterable[Box]) -> tuple[Notice, ...]:
    """Return what a reader has to know of a picture in which nothing is compared."""
    whole = (0, 0, captured.width_px, captured.height_px)
    if not captured.png or not is_covered(whole, regions_of(ignored)):
        return ()
    return (Notice("all_ignored", TEXT),)
