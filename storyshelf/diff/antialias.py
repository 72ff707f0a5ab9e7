"""Which differing pixels are edges that only moved within a pixel.

After Vysniauskas, "Anti-aliased Pixel and Intensity Slope Detector" (2009), in the form that
pixelmatch 5 to 7 gives it: a pixel is an edge's if, in either picture, at most two of its
neighbours have its own brightness, some are darker and some brighter, and the darkest or the
brightest of them lies in a flat area (three neighbours of its own colour) in both pictures. The
border of the picture counts as one equal neighbour.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from storyshelf.diff.compare import Indices, Kind, Kinds, Picture, luma, on_white, windows_of

Flags: TypeAlias = NDArray[np.bool_]

_FEW = 2  # equal neighbours an edge may have; a flat area has more
_STEP_X = np.array([-1, -1, -1, 0, 0, 1, 1, 1])  # column by column: between two neighbours that
_STEP_Y = np.array([-1, 0, 1, -1, 1, -1, 0, 1])  # are equally dark, pixelmatch takes the first


def forgive_edges(kinds: Kinds, base: Picture, head: Picture) -> None:
    """Turn pixels of kind OVER that are edges into ANTIALIASED, in place."""
    for at in windows_of(kinds, Kind.OVER):
        kinds[at[are_edges(base, head, at)]] = Kind.ANTIALIASED


def are_edges(base: Picture, head: Picture, at: Indices) -> Flags:
    """Tell for each place whether the pixel is an edge's in either picture."""
    edges = np.zeros(at.size, np.bool_)
    for image, other in ((base, head), (head, base)):
        # most changed pixels lie in flat areas, and this cheap half of the rule settles them
        open_ones = np.flatnonzero(~edges)
        open_ones = open_ones[~_in_flat_area(image, at[open_ones])]
        edges[open_ones] = _are_edges_in(image, other, at[open_ones])
    return edges


def _are_edges_in(image: Picture, other: Picture, at: Indices) -> Flags:
    around, inside = _neighbours(image, at)
    rise = _rise(image, at, around)
    equal = _equal_neighbours(rise == 0, inside)
    is_edge: Flags = (equal <= _FEW) & (rise.min(axis=1) < 0) & (rise.max(axis=1) > 0)
    edges = np.flatnonzero(is_edge)
    anchored = np.zeros(edges.size, np.bool_)
    for extreme in _extremes(rise[edges]):
        there = np.take_along_axis(around[edges], extreme[:, None], axis=1)[:, 0]
        anchored |= _in_flat_area(image, there) & _in_flat_area(other, there)
    is_edge[edges] = anchored
    return is_edge


def _extremes(rise: NDArray[np.float64]) -> Iterator[NDArray[np.intp]]:
    yield rise.argmin(axis=1)
    yield rise.argmax(axis=1)


def _rise(image: Picture, at: Indices, around: Indices) -> NDArray[np.float64]:
    """How much brighter the pixel is than each neighbour; outside the picture, not at all."""
    centre = on_white(image.channels[at])[:, None, :]
    return luma((centre - on_white(image.channels[around])) / 255)


def _in_flat_area(image: Picture, at: Indices) -> Flags:
    """Tell whether more than a few neighbours have exactly the pixel's own colour."""
    around, inside = _neighbours(image, at)
    same_colour = image.words[around] == image.words[at][:, None]
    flat: Flags = _equal_neighbours(same_colour, inside) > _FEW
    return flat


def _equal_neighbours(equal: Flags, inside: Flags) -> NDArray[np.intp]:
    on_border: Flags = ~np.logical_and.reduce(inside, axis=1)
    counts: NDArray[np.intp] = np.add.reduce(equal & inside, axis=1, dtype=np.intp)
    return counts + on_border


def _neighbours(image: Picture, at: Indices) -> tuple[Indices, Flags]:
    """The eight places around each, and whether they are inside; outside stands for itself."""
    width, height = image.size.width, image.size.height
    y, x = np.divmod(at, width)
    next_x, next_y = x[:, None] + _STEP_X, y[:, None] + _STEP_Y
    inside = (next_x >= 0) & (next_x < width) & (next_y >= 0) & (next_y < height)
    return np.where(inside, next_y * width + next_x, at[:, None]), inside
