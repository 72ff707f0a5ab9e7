"""Carries a comparison over the channel: the engine's words on one side, messages on the other."""

from dataclasses import astuple

from consumer.messages import Box, Compare, Compared, CompareOptions, Faint, Size
from storyshelf.diff.faint import FaintRule
from storyshelf.diff.options import Options
from storyshelf.diff.shapes import Box as PixelBox
from storyshelf.diff.shapes import Size as PixelSize
from storyshelf.diff.verdict import compare_pngs

UNKNOWN = Size(0, 0)


def compared(request: Compare) -> Compared:
    """Compare; works on bytes alone, so that a thread may do it beside a capture."""
    ignored = [PixelBox(*astuple(box)) for box in request.options.ignored]
    found = compare_pngs(request.base, request.head, _options(request.options), ignored)
    mask = found.mask
    return Compared(
        id=request.id,
        outcome=found.outcome,
        reason=found.reason,
        base_size=_size(found.base_size),
        head_size=_size(found.head_size),
        raw_px=found.raw_px,
        changed_px=found.changed_px,
        faint_px=found.faint_px,
        antialiased_px=found.antialiased_px,
        regions=tuple(Box(each.x, each.y, each.width, each.height) for each in found.regions),
        engine=found.engine,
        engine_version=found.engine_version,
        metric=found.metric,
        mask_x=mask.x_px if mask else 0,
        mask_y=mask.y_px if mask else 0,
        mask=mask.png if mask else b"",
    )


def _options(asked: CompareOptions) -> Options:
    return Options(
        threshold=asked.threshold,
        include_aa=asked.include_aa,
        max_diff_pixels=asked.max_diff_pixels,
        max_diff_ratio=asked.max_diff_ratio,
        faint=FaintRule() if asked.faint is Faint.COUNTS else None,
    )


def _size(size: PixelSize | None) -> Size:
    return UNKNOWN if size is None else Size(size.width, size.height)
