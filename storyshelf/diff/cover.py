"""Whether a region of a picture lies inside of others."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

Region: TypeAlias = tuple[int, int, int, int]  # x, y, width, height, in pixels
Corners: TypeAlias = tuple[int, int, int, int]  # left, top, and the first right and below outside


def is_covered(region: Region, covers: Iterable[Region], margin_px: int = 0) -> bool:
    """Tell whether every pixel of the region lies in one of the covers, each grown by the margin.

    A page decides how many there are and how they lie, so what it takes must not explode: the
    region is cut along all their edges, and each of them paints the cells inside it. A region
    without a pixel lies nowhere.
    """
    whole = _corners(region, 0)
    holes = [hole for cover in covers if _overlap(hole := _corners(cover, margin_px), whole)]
    if not holes or whole[0] >= whole[2] or whole[1] >= whole[3]:
        return False
    columns = sorted({x for each in (whole, *holes) for x in (each[0], each[2])})
    rows = sorted({y for each in (whole, *holes) for y in (each[1], each[3])})
    is_open = np.zeros((len(rows), len(columns)), np.bool_)
    is_open[_cells(rows, whole[1], whole[3]), _cells(columns, whole[0], whole[2])] = True
    for left, top, right, bottom in holes:
        is_open[_cells(rows, top, bottom), _cells(columns, left, right)] = False
    return not is_open.any()


def _corners(region: Region, margin_px: int) -> Corners:
    x, y, width, height = region
    return (x - margin_px, y - margin_px, x + width + margin_px, y + height + margin_px)


def _overlap(one: Corners, other: Corners) -> bool:
    is_beside = one[2] <= other[0] or other[2] <= one[0]
    return not (is_beside or one[3] <= other[1] or other[3] <= one[1])


def _cells(edges: list[int], begin: int, end: int) -> slice:
    return slice(bisect_left(edges, begin), bisect_left(edges, end))
