"""The arrays and rectangles that the modules of this package pass to each other."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]  # (height, width, 4): red, green, blue, alpha, not multiplied
PixelMask: TypeAlias = NDArray[np.bool_]  # (height, width)


@dataclass(frozen=True, slots=True)
class Size:
    """Of a picture, in pixels."""

    width: int
    height: int

    @property
    def area(self) -> int:
        """How many pixels that is."""
        return self.width * self.height


@dataclass(frozen=True, slots=True)
class Box:
    """A half-open rectangle in pixels: `x + width` is the first column outside."""

    x: int
    y: int
    width: int
    height: int


def size_of(pixels: Pixels) -> Size:
    """Read a picture's size off its array."""
    return Size(width=pixels.shape[1], height=pixels.shape[0])


def bounding_box(mask: PixelMask) -> Box | None:
    """Find the smallest box around all that is set; none if nothing is."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not rows.size:
        return None
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(mask[top:bottom].any(axis=0))
    left, right = int(columns[0]), int(columns[-1]) + 1
    return Box(x=left, y=top, width=right - left, height=bottom - top)


def cut(mask: PixelMask, box: Box) -> PixelMask:
    """Take the part of a mask inside a box, without copying it."""
    return mask[box.y : box.y + box.height, box.x : box.x + box.width]
