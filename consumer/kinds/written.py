"""How what a child said of a picture is written down with its snapshot."""

from consumer.kinds.finding import regions_of
from consumer.messages import Captured, Compared, Ending
from storyshelf.diff.cover import Region
from storyshelf.snapshots.snapshot import CaptureError, Diff


def error_of(captured: Captured) -> CaptureError | None:
    """Return why the story is errored; one that says nothing is errored all the same."""
    if captured.ending is Ending.OK:
        return None
    if captured.error is None:
        return CaptureError("render_failed", "The story failed without saying why.")
    return CaptureError(captured.error.code, captured.error.message, captured.error.stack)


def diff_of(compared: Compared, moving: tuple[Region, ...]) -> Diff:
    """Return what the comparison counted, and where the story moves."""
    return Diff(
        raw_px=compared.raw_px,
        changed_px=compared.changed_px + compared.faint_px,
        regions=regions_of(compared.regions),
        metric=compared.metric,
        engine=compared.engine,
        engine_version=compared.engine_version,
        base_size=(compared.base_size.width, compared.base_size.height),
        head_size=(compared.head_size.width, compared.head_size.height),
        mask_x=compared.mask_x,
        mask_y=compared.mask_y,
        moving=moving,
    )
