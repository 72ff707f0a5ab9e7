"""Tells of a picture no part of which is compared: that it looks unchanged says nothing."""

from collections.abc import Iterable

from consumer.kinds.finding import regions_of
from consumer.messages import Box, Captured
from storyshelf.diff.cover import Region, is_covered
from storyshelf.snapshots.snapshot import Notice

TEXT = "What is to be ignored, and what is known to move, covers all of it: no change can be found."


def nothing_compared(
    captured: Captured, ignored: Iterable[Box], moving: Iterable[Region]
) -> tuple[Notice, ...]:
    """Return what a reader has to know of a picture in which nothing is compared."""
    whole = (0, 0, captured.width_px, captured.height_px)
    if not captured.png or not is_covered(whole, (*regions_of(ignored), *moving)):
        return ()
    return (Notice("all_ignored", TEXT),)
