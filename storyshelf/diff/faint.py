"""What no single pixel shows and a person still sees: faint colours over an area, faint lines.

A threshold for each pixel cannot tell a light border that moved by 3 px from nothing at all. Two
things make a faint difference visible: covering a good part of the picture, as a recoloured
background does, or standing in a straight line, as a border, a divider or the side of a card
does. Noise of rendering does neither: it follows edges, and those are forgiven first.
"""

from dataclasses import dataclass

import numpy as np

from storyshelf.diff.antialias import forgive_edges
from storyshelf.diff.compare import Kind, Kinds, Picture
from storyshelf.diff.shapes import PixelMask, bounding_box, cut


@dataclass(frozen=True, slots=True)
class FaintRule:
    """When pixels under the threshold count after all."""

    share_of_threshold: float = 0.225  # 0.0225 at the default threshold: about 6 of 255 greys
    area_ratio: float = 0.03  # of the picture, on which the faint colour lies
    line_px: int = 16  # as long as a checkbox is wide, and longer than the stems of text


def show_faint(kinds: Kinds, base: Picture, head: Picture, rule: FaintRule) -> None:
    """Turn pixels of kind FAINT into FAINT_VISIBLE where the rule says so, in place."""
    visible = _visible(kinds, base, rule)
    if visible is None:
        return
    forgive_edges(kinds, base, head, Kind.FAINT, Kind.BELOW)
    visible = _visible(kinds, base, rule)
    if visible is not None:
        kinds[visible.reshape(-1)] = Kind.FAINT_VISIBLE


def _visible(kinds: Kinds, base: Picture, rule: FaintRule) -> PixelMask | None:
    faint: PixelMask = (kinds == Kind.FAINT).reshape(base.size.height, base.size.width)
    area = np.count_nonzero(faint)
    if not area:
        return None
    if area >= rule.area_ratio * base.size.area:
        return faint
    return _lines(faint, rule.line_px)


def _lines(mask: PixelMask, length_px: int) -> PixelMask | None:
    """Keep what stands in a full horizontal or vertical run of that length; none if nothing."""
    box = bounding_box(mask)
    if box is None:
        return None
    part = cut(mask, box)
    kept = _runs(part, length_px) | _runs(part.T, length_px).T
    if not kept.any():
        return None
    lines = np.zeros_like(mask)
    cut(lines, box)[...] = kept
    return lines


def _runs(mask: PixelMask, length_px: int) -> PixelMask:
    """Keep what stands in a run along a row: erode by the length, then grow back by it.

    Both double the reach at each step, so that the cost is the logarithm of the length.
    """
    kept = np.zeros_like(mask)
    if mask.shape[1] < length_px:
        return kept
    starts, reach = mask, 1
    while reach < length_px:
        step = min(reach, length_px - reach)
        starts, reach = starts[:, :-step] & starts[:, step:], reach + step
    kept[:, : starts.shape[1]] = starts
    reach = 1
    while reach < length_px:
        step = min(reach, length_px - reach)
        kept[:, step:] |= kept[:, :-step]
        reach += step
    return kept
