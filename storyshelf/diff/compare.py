"""How far the pixels of two equally large pictures are apart: the metric `yiq-7`.

The distance of two colours is a weighted square of their difference in the YIQ space of NTSC
television, after Kotsarenko and Ramos, "Measuring perceived color difference using YIQ NTSC
transmission color space in mobile applications" (2010), with the coefficients that pixelmatch
5 to 7 uses. Translucent colours are laid on white first. The sums are written in the order that
pixelmatch adds them, in float64: a distance that touches the limit falls on the same side.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from storyshelf.diff.shapes import Pixels, Size

METRIC = "yiq-7"
WINDOW_PX = 65_536  # pixels looked at in one step: bounds the temporaries to some tens of MB

_FARTHEST = 35215  # black to white, about the largest distance there is; a threshold of 1
_OPAQUE = 255

Indices: TypeAlias = NDArray[np.intp]  # of pixels in reading order
Kinds: TypeAlias = NDArray[np.uint8]  # one Kind for each pixel, in reading order


class Kind(IntEnum):
    """What a pixel of the pair is; later rules move pixels from one kind to another."""

    SAME = 0
    BELOW = 1  # differs, but less than anything that counts
    FAINT = 2  # differs by more than the faint threshold, not by more than the threshold
    OVER = 3  # differs by more than the threshold
    ANTIALIASED = 4  # was over, and forgiven as an edge
    FAINT_VISIBLE = 5  # was faint, and is part of something that can be seen
    IGNORED = 6  # differs, and lies where nothing is compared


@dataclass(frozen=True, slots=True)
class Picture:
    """One side of a comparison, with its pixels as single words in reading order."""

    words: NDArray[np.uint32]
    size: Size

    @property
    def channels(self) -> Pixels:
        """The same pixels, as (number of pixels, 4)."""
        return self.words.view(np.uint8).reshape(-1, 4)


def picture_of(pixels: Pixels, size: Size) -> Picture:
    """Take the top left part of that size; copies only if it is not the whole."""
    part = np.ascontiguousarray(pixels[: size.height, : size.width])
    return Picture(part.reshape(-1).view(np.uint32), size)


def classify(base: Picture, head: Picture, threshold: float, faint_threshold: float) -> Kinds:
    """Sort every pixel into SAME, BELOW, FAINT or OVER; symmetric in the two pictures.

    Only pixels that differ at all are measured, so that the cost follows what changed.
    """
    kinds = np.zeros(base.size.area, np.uint8)
    for start in range(0, kinds.size, WINDOW_PX):
        window = slice(start, start + WINDOW_PX)
        at = np.flatnonzero(base.words[window] != head.words[window]) + start
        if at.size:
            gap = _gap(base.channels[at], head.channels[at])
            kinds[at] = Kind.BELOW
            kinds[at[gap.is_beyond(faint_threshold)]] = Kind.FAINT
            kinds[at[gap.is_beyond(threshold)]] = Kind.OVER
    return kinds


def on_white(colours: Pixels) -> NDArray[np.int32]:
    """Lay colours on white; 255 times too large, to stay exact, and without the constant term."""
    wide = colours.astype(np.int32)
    alpha = wide[..., 3:]
    return wide[..., :3] * alpha - _OPAQUE * alpha


@dataclass(frozen=True, slots=True)
class _Gap:
    """How far each of a row of pixels is from its counterpart."""

    colour: NDArray[np.float64]  # up to _FARTHEST
    alpha: NDArray[np.int16]  # up to 255

    def is_beyond(self, threshold: float) -> NDArray[np.bool_]:
        """Hold the gap against a threshold of 0 to 1."""
        far = self.colour > _FARTHEST * threshold * threshold
        return far | (self.alpha > _OPAQUE * threshold)


def _gap(ours: Pixels, theirs: Pixels) -> _Gap:
    alpha = np.abs(ours[..., 3].astype(np.int16) - theirs[..., 3])
    rgb = (on_white(ours) - on_white(theirs)) / _OPAQUE
    y = rgb[..., 0] * 0.29889531 + rgb[..., 1] * 0.58662247 + rgb[..., 2] * 0.11448223
    i = rgb[..., 0] * 0.59597799 - rgb[..., 1] * 0.27417610 - rgb[..., 2] * 0.32180189
    q = rgb[..., 0] * 0.21147017 - rgb[..., 1] * 0.52261711 + rgb[..., 2] * 0.31114694
    return _Gap(0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q, alpha)
