"""Builds that are worth a review: real pictures of many sizes, compared by the product itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO

from PIL import Image, ImageDraw

from storyshelf.builds.build import Build
from storyshelf.builds.jobs import parse_capture
from storyshelf.diff.png_header import read_header
from storyshelf.diff.verdict import Comparison, compare_pngs
from storyshelf.queue.job import Completed
from storyshelf.snapshots.snapshot import (
    Diff,
    Picture,
    Pixels,
    PlannedSnapshot,
    SnapshotResult,
    StoredMask,
    Verdict,
)
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand

Spots = tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True)
class Drawing:
    """A picture of stripes with spots on it, boxes of x, y, width and height."""

    width_px: int
    height_px: int
    spots: Spots = ()

    @property
    def png(self) -> bytes:
        image = Image.new("RGB", (self.width_px, self.height_px), "white")
        pen = ImageDraw.Draw(image)
        for top in range(0, self.height_px, 40):
            pen.rectangle((0, top, self.width_px, top + 19), fill="#dbe4ee")
        for x, y, width, height in self.spots:
            pen.rectangle((x, y, x + width - 1, y + height - 1), fill="#c02020")
        content = BytesIO()
        image.save(content, "PNG")
        return content.getvalue()


Drawings = Mapping[str, Drawing]  # by story
Retouch = Callable[[SnapshotResult], SnapshotResult]


async def drawn(hand: Hand, drawings: Drawings, retouch: Retouch = lambda result: result) -> Build:
    """Take a build of these stories from its upload to its verdict."""
    stories = sorted(drawings)
    build = await hand.upload(stories)
    await hand.plan(build, stories)
    for _ in await hand.open_shards(build):
        lease = await hand.claim(CAPTURE_LANE)
        work = await hand.work_of(lease)
        results = [await result_of(hand, one, drawings[one.key.story_id]) for one in work.snapshots]
        await hand.record(lease, work, [retouch(result) for result in results])
        await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    return await hand.finalise(build)


async def result_of(hand: Hand, planned: PlannedSnapshot, drawing: Drawing) -> SnapshotResult:
    """Return what a consumer would find."""
    picture = await stored(hand, drawing.png)
    result = SnapshotResult(
        id=planned.id,
        verdict=Verdict.ADDED,
        reason="It is new.",
        pixels=Pixels.DIFFERENT,
        environment_id=ENVIRONMENT,
        duration_ms=240,
        picture=picture,
        timings_ms={"open": 40, "render": 120, "shoot": 80},
    )
    if planned.baseline_image is None:
        return result
    if planned.baseline_image == picture.key:
        return replace(result, verdict=Verdict.UNCHANGED, reason="Equal.", pixels=Pixels.EQUAL)
    found = compare_pngs(await hand.blobs.read(planned.baseline_image), drawing.png)
    assert found.mask is not None, "what differs has a mask"
    mask = StoredMask(await hand.blobs.put(found.mask.png), len(found.mask.png))
    return replace(
        result,
        verdict=Verdict.CHANGED,
        reason=found.reason,
        diff=_diff(found),
        mask=mask,
    )


async def stored(hand: Hand, png: bytes) -> Picture:
    header = read_header(png)
    return Picture(await hand.blobs.put(png), len(png), header.width_px, header.height_px)


def _diff(found: Comparison) -> Diff:
    assert found.base_size, "the drawings can be decoded"
    assert found.head_size, "the drawings can be decoded"
    return Diff(
        raw_px=found.raw_px,
        changed_px=found.changed_px + found.faint_px,
        regions=tuple((box.x, box.y, box.width, box.height) for box in found.regions),
        metric=found.metric,
        engine=found.engine,
        engine_version=found.engine_version,
        base_size=(found.base_size.width, found.base_size.height),
        head_size=(found.head_size.width, found.head_size.height),
        mask_x=found.mask.x_px if found.mask else 0,
        mask_y=found.mask.y_px if found.mask else 0,
    )
