"""What a comparison can end in, decided from the counts, with the sentence a reviewer reads."""

from enum import StrEnum

from storyshelf.diff.difference import Difference
from storyshelf.diff.shapes import Size


class Outcome(StrEnum):
    """What the comparison says of the new picture."""

    IDENTICAL = "identical"  # no pixel differs
    WITHIN_TOLERANCE = "within_tolerance"  # pixels differ, not by as much as the options ask for
    CHANGED = "changed"
    SIZE_CHANGED = "size_changed"
    UNDECODABLE = "undecodable"


def judge(base: Size, head: Size, found: Difference, allowed_px: int) -> tuple[Outcome, str]:
    """Decide; no tolerance turns a change of size into a pass."""
    if base != head:
        return Outcome.SIZE_CHANGED, _resized(base, head, found)
    if not found.raw_px:
        return Outcome.IDENTICAL, "Every pixel is equal."
    counted_px = found.changed_px + found.faint_px
    if counted_px > allowed_px:
        return Outcome.CHANGED, _changed(found, head)
    if counted_px:
        allowed = f"{counted_px:,} of them by enough to count, where {allowed_px:,} may"
        return Outcome.WITHIN_TOLERANCE, f"{_pixels(found.raw_px)} differ, {allowed}."
    return Outcome.WITHIN_TOLERANCE, f"{_pixels(found.raw_px)} differ, none by enough to count."


def _resized(base: Size, head: Size, found: Difference) -> str:
    sizes = f"{base.width} x {base.height} became {head.width} x {head.height}"
    inside_px = found.changed_px + found.faint_px - found.surplus_px
    inside = f"of what both show, {_pixels(inside_px)} changed"
    return f"The size changed: {sizes}; {inside if inside_px else 'what both show is the same'}."


def _changed(found: Difference, size: Size) -> str:
    share = f"{(found.changed_px + found.faint_px) / size.area:.2%} of the picture"
    faint = f"{_pixels(found.faint_px)} changed faintly, over an area or along a line"
    if not found.changed_px:
        return f"{faint} ({share})."
    strong = f"{_pixels(found.changed_px)} changed"
    return f"{strong} and {faint} ({share})." if found.faint_px else f"{strong} ({share})."


def _pixels(count: int) -> str:
    return f"{count:,} pixel" if count == 1 else f"{count:,} pixels"
