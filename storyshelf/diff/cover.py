"""Whether a region of a picture lies inside of others."""

from collections.abc import Iterable
from typing import TypeAlias

Region: TypeAlias = tuple[int, int, int, int]  # x, y, width, height, in pixels
Corners: TypeAlias = tuple[int, int, int, int]  # left, top, and the first right and below outside


def is_covered(region: Region, covers: Iterable[Region], margin_px: int = 0) -> bool:
    """Tell whether each of its pixels lies in one of the covers, which grow by the margin first."""
    left = [_corners(region, 0)]
    for cover in covers:
        hole = _corners(cover, margin_px)
        left = [piece for part in left for piece in _without(part, hole)]
    return not left


def _corners(region: Region, margin_px: int) -> Corners:
    x, y, width, height = region
    return (x - margin_px, y - margin_px, x + width + margin_px, y + height + margin_px)


def _without(part: Corners, hole: Corners) -> list[Corners]:
    """Return what is left of a part: bands above and below the hole, pieces beside it."""
    left, top, right, bottom = part
    inner = (max(left, hole[0]), max(top, hole[1]), min(right, hole[2]), min(bottom, hole[3]))
    if inner[0] >= inner[2] or inner[1] >= inner[3]:
        return [part]
    pieces = (
        (left, top, right, inner[1]),
        (left, inner[3], right, bottom),
        (left, inner[1], inner[0], inner[3]),
        (inner[2], inner[1], right, inner[3]),
    )
    return [one for one in pieces if one[0] < one[2] and one[1] < one[3]]
