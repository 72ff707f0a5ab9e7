"""The places where a picture changed, as few boxes that a reviewer can jump between."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from storyshelf.diff.shapes import Box, PixelMask

TILE_PX = 8  # changes nearer than this are one place to a reader's eye
MAX_REGIONS = 100  # more are not looked at one by one


@dataclass(frozen=True, slots=True)
class Regions:
    """Boxes in reading order of their first tile; with `tile_px` over TILE_PX, some were joined."""

    boxes: tuple[Box, ...]
    tile_px: int = TILE_PX


@dataclass(frozen=True, slots=True)
class _Tiles:
    """The tiles in which anything is set, in reading order, and what lies in each."""

    occupied: NDArray[np.bool_]
    pixels: NDArray[np.intp]  # how many are set
    left: NDArray[np.intp]  # where the set pixels begin and end, half-open, in the picture
    top: NDArray[np.intp]
    right: NDArray[np.intp]
    bottom: NDArray[np.intp]


def find_regions(mask: PixelMask) -> Regions:
    """Join what touches on a grid of tiles, and box each piece to its outermost pixels.

    The grid is made coarser until there are at most MAX_REGIONS.
    """
    tiles = _tiles(mask)
    if not tiles.pixels.size:
        return Regions(())
    scale = 1
    owners, count = _owners(tiles, scale)
    while count > MAX_REGIONS:
        scale *= 2
        owners, count = _owners(tiles, scale)
    return Regions(_boxes(tiles, owners, count), TILE_PX * scale)


def without_small_regions(mask: PixelMask, min_px: int) -> PixelMask:
    """Clear the pieces, joined as in `find_regions`, that have fewer pixels than that."""
    tiles = _tiles(mask)
    owners, count = _owners(tiles, 1)
    sizes = np.bincount(owners, weights=tiles.pixels, minlength=count)
    kept = np.zeros_like(tiles.occupied)
    kept[tiles.occupied] = sizes[owners] >= min_px
    wide = kept.repeat(TILE_PX, axis=0).repeat(TILE_PX, axis=1)
    return mask & wide[: mask.shape[0], : mask.shape[1]]


def _tiles(mask: PixelMask) -> _Tiles:
    height, width = mask.shape
    padded = np.pad(mask, ((0, -height % TILE_PX), (0, -width % TILE_PX)))
    blocks = padded.reshape(-(-height // TILE_PX), TILE_PX, -(-width // TILE_PX), TILE_PX)
    occupied: PixelMask = np.logical_or.reduce(blocks, axis=(1, 3))
    tile_y, tile_x = np.nonzero(occupied)
    filled = blocks[tile_y, :, tile_x, :]
    columns: PixelMask = np.logical_or.reduce(filled, axis=1)
    rows: PixelMask = np.logical_or.reduce(filled, axis=2)
    return _Tiles(
        occupied=occupied,
        pixels=np.count_nonzero(filled, axis=(1, 2)),
        left=tile_x * TILE_PX + columns.argmax(axis=1),
        top=tile_y * TILE_PX + rows.argmax(axis=1),
        right=(tile_x + 1) * TILE_PX - columns[:, ::-1].argmax(axis=1),
        bottom=(tile_y + 1) * TILE_PX - rows[:, ::-1].argmax(axis=1),
    )


def _boxes(tiles: _Tiles, owners: NDArray[np.intp], count: int) -> tuple[Box, ...]:
    left, top = np.full((2, count), np.iinfo(np.intp).max)
    right, bottom = np.zeros((2, count), np.intp)
    np.minimum.at(left, owners, tiles.left)
    np.minimum.at(top, owners, tiles.top)
    np.maximum.at(right, owners, tiles.right)
    np.maximum.at(bottom, owners, tiles.bottom)
    corners = zip(left.tolist(), top.tolist(), right.tolist(), bottom.tolist(), strict=True)
    return tuple(Box(x=x, y=y, width=x2 - x, height=y2 - y) for x, y, x2, y2 in corners)


def _owners(tiles: _Tiles, scale: int) -> tuple[NDArray[np.intp], int]:
    """Number the pieces on a grid coarser by `scale`; give each occupied tile its piece."""
    tile_y, tile_x = np.nonzero(tiles.occupied)
    height, width = tiles.occupied.shape
    coarse = np.zeros((-(-height // scale), -(-width // scale)), np.bool_)
    coarse[tile_y // scale, tile_x // scale] = True
    labels, count = _label(coarse)
    return labels[tile_y // scale, tile_x // scale], count


def _label(grid: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """Number the pieces of a grid that touch by side or corner, in reading order.

    Works on runs along the rows: there are far fewer of them than cells, and numpy finds both the
    runs and which ones touch; only the joining is a loop.
    """
    steps = np.diff(np.pad(grid, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, start = np.nonzero(steps == 1)
    end = np.nonzero(steps == -1)[1]
    stride = grid.shape[1] + 2  # so that a run's place in reading order is one number
    first = np.searchsorted(row * stride + end, (row - 1) * stride + start)
    last = np.searchsorted(row * stride + start, (row - 1) * stride + end, side="right")
    roots = _join(first.tolist(), last.tolist())
    names, piece = np.unique(roots, return_inverse=True)
    labels = np.zeros(grid.shape, np.intp)
    labels[grid] = np.repeat(piece, end - start)
    return labels, int(names.size)


def _join(first: list[int], last: list[int]) -> list[int]:
    """Join each run with those from `first` to before `last`; the earliest names the piece."""
    parent = list(range(len(first)))

    def root(run: int) -> int:
        while parent[run] != run:
            parent[run] = parent[parent[run]]
            run = parent[run]
        return run

    for run, (begin, end) in enumerate(zip(first, last, strict=True)):
        for above in range(begin, end):
            one, two = sorted((root(run), root(above)))
            parent[two] = one
    return [root(run) for run in range(len(parent))]
