"""What differs between two pictures once every rule has spoken, before anyone calls it a change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from storyshelf.diff.antialias import forgive_edges
from storyshelf.diff.compare import Kind, Kinds, classify, picture_of
from storyshelf.diff.faint import FaintRule, show_faint
from storyshelf.diff.ignored import ignore
from storyshelf.diff.options import Options
from storyshelf.diff.regions import without_small_regions
from storyshelf.diff.shapes import Box, PixelMask, Pixels, Size, size_of


@dataclass(frozen=True, slots=True)
class Difference:
    """Counts, and the pixels that count: `counted` has `changed_px + faint_px` of them set.

    `counted` has the larger width and the larger height of the two pictures.
    """

    raw_px: int
    changed_px: int
    faint_px: int
    antialiased_px: int
    ignored_px: int  # in the boxes that are not compared; part of raw_px alone
    surplus_px: int  # in one picture only; part of raw_px and of changed_px
    counted: PixelMask


def measure(
    base: Pixels, head: Pixels, options: Options, ignored: Sequence[Box] = ()
) -> Difference:
    """Apply the rules in order to what the pictures share, then add what only one of them has.

    The latter counts wherever it is: what is ignored may look different, not move its surroundings.
    """
    base_size, head_size = size_of(base), size_of(head)
    shared = Size(min(base_size.width, head_size.width), min(base_size.height, head_size.height))
    kinds = _kinds(base, head, shared, options, ignored)
    changed, faint = _counting(kinds, shared, options.min_region_px)
    surplus = _surplus(base_size, head_size)
    surplus_px = _count(surplus)
    surplus[: shared.height, : shared.width] = changed | faint
    return Difference(
        raw_px=_count(kinds != Kind.SAME) + surplus_px,
        changed_px=_count(changed) + surplus_px,
        faint_px=_count(faint),
        antialiased_px=_count(kinds == Kind.ANTIALIASED),
        ignored_px=_count(kinds == Kind.IGNORED),
        surplus_px=surplus_px,
        counted=surplus,
    )


def _kinds(
    base: Pixels, head: Pixels, shared: Size, options: Options, ignored: Sequence[Box]
) -> Kinds:
    ours, theirs = picture_of(base, shared), picture_of(head, shared)
    rule = options.faint or FaintRule(share_of_threshold=1)  # nothing lies between equal limits
    kinds = classify(ours, theirs, options.threshold, options.threshold * rule.share_of_threshold)
    ignore(kinds, shared, ignored)
    if not options.include_aa:
        forgive_edges(kinds, ours, theirs, Kind.OVER, Kind.ANTIALIASED)
    show_faint(kinds, ours, theirs, rule)
    return kinds


def _counting(kinds: Kinds, shared: Size, min_region_px: int) -> tuple[PixelMask, PixelMask]:
    """The changed and the visibly faint pixels, without those in regions that are too small."""
    grid = kinds.reshape(shared.height, shared.width)
    changed, faint = grid == Kind.OVER, grid == Kind.FAINT_VISIBLE
    if min_region_px > 1:
        large = without_small_regions(changed | faint, min_region_px)
        changed, faint = changed & large, faint & large
    return changed, faint


def _surplus(base: Size, head: Size) -> PixelMask:
    """Set what only one of the pictures covers; a corner that neither covers is not different."""
    mask = np.zeros((max(base.height, head.height), max(base.width, head.width)), np.bool_)
    for size in (base, head):
        mask[: size.height, : size.width] ^= True
    return mask


def _count(mask: PixelMask) -> int:
    return int(np.count_nonzero(mask))
