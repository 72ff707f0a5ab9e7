"""Which differing pixels are edges that only moved within a pixel.

After Vysniauskas, "Anti-aliased Pixel and Intensity Slope Detector" (2009), in the form that
pixelmatch 5 to 7 gives it: a pixel is an edge's if, in either picture, at most two of its
neighbours are as bright as it is, some are darker and some brighter, and the brightest or the
darkest of them lies in a flat area (more than two neighbours like itself) in both pictures. The
border of the picture counts as one neighbour alike.

The rule asks only how bright pixels are, so it is applied to bands of rows turned into one number
a pixel: no two opaque colours share one, and translucent ones are alike if they look it on white.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from storyshelf.diff.compare import WINDOW_PX, Indices, Kind, Kinds, Picture, on_white

Flags: TypeAlias = NDArray[np.bool_]

_FEW = 2  # neighbours alike that an edge may have; a flat area has more
_REACH = 2  # rows beyond a band that the rule looks at: the neighbours of a neighbour
_RED, _GREEN, _BLUE = 29_889_531.0, 58_662_247.0, 11_448_223.0  # luma; whole, so sums are exact


@dataclass(frozen=True, slots=True)
class _Band:
    """How bright the pixels of some rows are, and those around them; NaN outside the picture."""

    brightness: NDArray[np.float64]
    stride: int

    def around(self, places: Indices) -> Iterator[Indices]:
        """Column by column: of two neighbours equally bright, pixelmatch takes the first."""
        for x in (-1, 0, 1):
            for y in (-self.stride, 0, self.stride):
                if x or y:
                    yield places + (x + y)


def forgive_edges(kinds: Kinds, base: Picture, head: Picture, over: Kind, forgiven: Kind) -> None:
    """Turn pixels of kind `over` that are an edge's in either picture into `forgiven`, in place."""
    width, height = base.size.width, base.size.height
    rows = max(1, WINDOW_PX // width)
    for top in range(0, height, rows):
        at = np.flatnonzero(kinds[top * width : (top + rows) * width] == over)
        if at.size:
            bottom = min(top + rows, height)
            edges = _are_edges(_band(base, top, bottom), _band(head, top, bottom), at)
            kinds[at[edges] + top * width] = forgiven


def brightness(picture: Picture, top: int, bottom: int) -> NDArray[np.float64]:
    """Weigh the channels of some rows into one exact number for each pixel, as seen on white."""
    rows = slice(top * picture.size.width, bottom * picture.size.width)
    red, green, blue = on_white(picture.channels[rows]).T
    weighed: NDArray[np.float64] = red * _RED + green * _GREEN + blue * _BLUE
    return weighed.reshape(bottom - top, picture.size.width)


def _band(picture: Picture, top: int, bottom: int) -> _Band:
    width, height = picture.size.width, picture.size.height
    first, last = max(top - _REACH, 0), min(bottom + _REACH, height)
    padded = np.full((bottom - top + 2 * _REACH, width + 2), np.nan)
    inside = padded[first - top + _REACH : last - top + _REACH, 1:-1]
    inside[...] = brightness(picture, first, last)
    return _Band(padded.reshape(-1), width + 2)


def _are_edges(base: _Band, head: _Band, at: Indices) -> Flags:
    y, x = np.divmod(at, base.stride - 2)
    places = (y + _REACH) * base.stride + x + 1
    edges = np.zeros(at.size, np.bool_)
    for image, other in ((base, head), (head, base)):
        # most changed pixels lie in a flat area, and this cheap half of the rule settles them
        left = np.flatnonzero(~edges)
        left = left[~_in_flat_area(image, places[left])]
        edges[left] = _are_slopes(image, other, places[left])
    return edges


def _in_flat_area(band: _Band, places: Indices) -> Flags:
    own = band.brightness[places]
    alike = np.zeros(places.size, np.int8)
    on_border = np.zeros(places.size, np.bool_)
    for there in band.around(places):
        near = band.brightness[there]
        alike += near == own
        on_border |= np.isnan(near)
    flat: Flags = alike + on_border > _FEW
    return flat


def _are_slopes(image: _Band, other: _Band, places: Indices) -> Flags:
    """Tell whether a pixel lies between brighter and darker, one of them flat in both pictures."""
    brightest, darkest, between = _extremes(image, places)
    slopes = np.flatnonzero(between)
    anchored = np.zeros(slopes.size, np.bool_)
    for extreme in (brightest[slopes], darkest[slopes]):
        anchored |= _in_flat_area(image, extreme) & _in_flat_area(other, extreme)
    between[slopes] = anchored
    return between


def _extremes(band: _Band, places: Indices) -> tuple[Indices, Indices, Flags]:
    """Find the brightest and the darkest neighbour, and whether the pixel is between the two."""
    own = band.brightness[places]
    lowest, highest = np.zeros((2, places.size))
    brightest, darkest = places.copy(), places.copy()
    for there in band.around(places):
        rise = own - band.brightness[there]  # NaN outside the picture: neither lower nor higher
        lower, higher = rise < lowest, rise > highest
        np.copyto(lowest, rise, where=lower)
        np.copyto(brightest, there, where=lower)
        np.copyto(highest, rise, where=higher)
        np.copyto(darkest, there, where=higher)
    return brightest, darkest, (lowest < 0) & (highest > 0)
