"""What of a pair of pictures is not compared: boxes that an author gave up on, such as a clock."""

from collections.abc import Sequence

from storyshelf.diff.compare import Kind, Kinds
from storyshelf.diff.shapes import Box, Size


def ignore(kinds: Kinds, size: Size, boxes: Sequence[Box]) -> None:
    """Turn every pixel inside a box that is not SAME into IGNORED, in place.

    Before any other rule speaks: what is ignored is no part of a line or an area either.
    """
    grid = kinds.reshape(size.height, size.width)
    for box in boxes:
        inside = grid[box.y : box.y + box.height, box.x : box.x + box.width]
        inside[inside != Kind.SAME] = Kind.IGNORED


def told(boxes: Sequence[Box], ignored_px: int) -> str:
    """Return the sentence about it; none without boxes."""
    if not boxes:
        return ""
    regions = "1 region is" if len(boxes) == 1 else f"{len(boxes):,} regions are"
    pixels = "1 pixel differs" if ignored_px == 1 else f"{ignored_px:,} pixels differ"
    return f" {regions} ignored; {pixels} there."
