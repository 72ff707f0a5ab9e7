"""The verdict over a pair of pictures: what it is, how many pixels, where, and in words why."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.diff.compare import METRIC
from storyshelf.diff.difference import measure
from storyshelf.diff.ignored import told
from storyshelf.diff.mask import Mask, draw_mask
from storyshelf.diff.options import Options
from storyshelf.diff.outcome import Outcome, judge
from storyshelf.diff.png import BadPngError, decode, read_header
from storyshelf.diff.regions import TILE_PX, find_regions
from storyshelf.diff.shapes import Box, Pixels, Size, size_of

__all__ = [
    "Box",
    "Comparison",
    "Mask",
    "Options",
    "Outcome",
    "Size",
    "compare_pixels",
    "compare_pngs",
]

DEFAULT_OPTIONS = Options()
ENGINE = "numpy"
ENGINE_VERSION = "1"  # rises when the same two pictures and options could get another answer


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict, with all that is stored of it.

    The mask has exactly `changed_px + faint_px` pixels set and the regions box them; both are
    placed in the larger width and the larger height of the two.
    """

    outcome: Outcome
    reason: str
    base_size: Size | None = None  # none: undecodable
    head_size: Size | None = None
    raw_px: int = 0  # every pixel that differs at all, also where the outcome passes: shows a drift
    changed_px: int = 0  # over the threshold and no edge, or in only one of the pictures
    faint_px: int = 0  # under the threshold and visible all the same, see FaintRule
    antialiased_px: int = 0  # over the threshold, forgiven as an edge
    regions: tuple[Box, ...] = ()
    region_tile_px: int = TILE_PX  # over TILE_PX: neighbouring regions were joined, to have fewer
    mask: Mask | None = None
    metric: str = METRIC
    engine: str = ENGINE
    engine_version: str = ENGINE_VERSION


def compare_pngs(
    base: bytes, head: bytes, options: Options = DEFAULT_OPTIONS, ignored: Sequence[Box] = ()
) -> Comparison:
    """Compare two PNG files outside of the ignored boxes; of equal bytes only the header is read.

    Never raises for what a file holds: one that cannot be decoded is UNDECODABLE, and the reason
    says which of the two it is.
    """
    try:
        header = read_header(base)
        if base == head:
            size = Size(header.width_px, header.height_px)
            return Comparison(Outcome.IDENTICAL, "The files are equal byte for byte.", size, size)
        base_pixels = decode(base)
    except BadPngError as error:
        return Comparison(Outcome.UNDECODABLE, f"The baseline cannot be read: {error.problem}.")
    try:
        head_pixels = decode(head)
    except BadPngError as error:
        return Comparison(Outcome.UNDECODABLE, f"The new picture cannot be read: {error.problem}.")
    return compare_pixels(base_pixels, head_pixels, options, ignored)


def compare_pixels(
    base: Pixels, head: Pixels, options: Options = DEFAULT_OPTIONS, ignored: Sequence[Box] = ()
) -> Comparison:
    """Compare two decoded pictures, laid on each other at the top left if their sizes differ."""
    base_size, head_size = size_of(base), size_of(head)
    difference = measure(base, head, options, ignored)
    regions = find_regions(difference.counted)
    allowed_px = options.allowed_px(base_size)
    outcome, reason = judge(base_size, head_size, difference, allowed_px)
    return Comparison(
        outcome=outcome,
        reason=reason + told(ignored, difference.ignored_px),
        base_size=base_size,
        head_size=head_size,
        raw_px=difference.raw_px,
        changed_px=difference.changed_px,
        faint_px=difference.faint_px,
        antialiased_px=difference.antialiased_px,
        regions=regions.boxes,
        region_tile_px=regions.tile_px,
        mask=draw_mask(difference.counted),
    )
