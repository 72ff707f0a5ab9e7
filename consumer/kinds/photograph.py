"""Capture one snapshot and come to its verdict: shoot, compare, confirm."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from consumer.capture.confirm import SAME, Conclusion, Seen, conclude, needs_second
from consumer.kinds.blame import blamed_on, laid_on_its_story, violated
from consumer.kinds.finding import (
    Finding,
    Moving,
    Shot,
    Suspicion,
    concluded,
    errored,
    has_moved,
    incomparable,
    lies_where_it_moves,
    moved_as_before,
    new,
    pngs_of,
    regions_of,
    same_bytes,
    unchanged,
    unstable,
    with_frame,
)
from consumer.kinds.nothing_compared import nothing_compared
from consumer.kinds.shelf import Shelf
from consumer.kinds.stopwatch import Stopwatch
from consumer.kinds.violations import (
    EXAMINATIONS,
    findings_of,
    judged_again,
    must_be_seen_again,
    notices_of,
    standing_of,
)
from consumer.kinds.written import diff_of, error_of
from consumer.messages import (
    EVERY_PIXEL,
    Box,
    Captured,
    Compared,
    CompareOptions,
    Ending,
    Faint,
    Page,
)
from consumer.supervisor import CaptureRequest, Child, RequestFailedError
from storyshelf.bundle.isolation import Isolation
from storyshelf.clock import Clock
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.png import BadPngError, read_header
from storyshelf.ids import BlobKey, EnvironmentId
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots.dependence import seen
from storyshelf.snapshots.snapshot import (
    CaptureError,
    CaptureOptions,
    ConsoleLine,
    Notice,
    OrderDependence,
    Picture,
    Pixels,
    PlannedSnapshot,
    SnapshotResult,
    StoredMask,
    Verdict,
)
from storyshelf.snapshots.steadiness import Level
from storyshelf.storage.blobs import Blobs, MissingBlobError, key_of


class Photographer:
    """Captures snapshots with a child it is lent."""

    def __init__(
        self,
        blobs: Blobs,
        clock: Clock,
        environment: EnvironmentId,
        timeout_ms: int,
        shelf: Shelf | None = None,
    ) -> None:
        self._blobs = blobs
        self._shelf = shelf or Shelf(blobs, clock)
        self._clock = clock
        self.environment = environment
        self._timeout_ms = timeout_ms

    async def result_of(
        self, child: Child, snapshot: PlannedSnapshot, work: Work
    ) -> SnapshotResult:
        """Capture, compare and confirm; every picture of the result is stored.

        Its timings are the child's of the picture that counts, and what was done besides:
        `first_picture` (not believed, so taken again), `compare`, `store`.

        Raises ChildDiedError, RequestFailedError.
        """
        ignored = dict.fromkeys(Box(*region) for region in snapshot.baseline_ignored)
        commission = _Commission(child, snapshot, work, Stopwatch(self._clock), ignored)
        return await self._stored(commission, await self._find(commission))

    async def _find(self, commission: "_Commission") -> Finding:
        first = await self._shoot(commission, _page_for(commission.snapshot))
        with blamed_on(commission.snapshot.key.story_id):
            finding = await self._judged(commission, first)
            if not must_be_seen_again(commission.snapshot, finding):
                return finding
            second = await self._shoot(commission, Page.FRESH)
            return judged_again(commission.snapshot, finding, second)

    async def _judged(self, commission: "_Commission", first: Shot) -> Finding:
        snapshot = commission.snapshot
        if first.captured.ending is Ending.ERRORED or first.key is None:
            return errored(first)
        if first.key == snapshot.baseline_image:
            return same_bytes(first)
        moving = await self._moving(commission, first)
        if snapshot.baseline_image is None:
            return new(first, moving)
        return await self._compared_with(snapshot.baseline_image, first, moving, commission)

    async def _moving(self, commission: "_Commission", shot: Shot) -> Moving | None:
        """Compare the pictures of a story that never held still with its last one."""
        if not has_moved(shot):
            return None
        frames = [self._frame(commission.child, shot, png) for png in pngs_of(shot.captured)]
        compared = [
            await self._compare(commission, frame.captured.png, shot, EVERY_PIXEL)
            for frame in frames
        ]
        if all(one.outcome in SAME for one in compared):
            return None  # it moves in what is ignored, and nowhere else
        return Moving(tuple(frames), tuple(compared))

    async def _compared_with(
        self, baseline: BlobKey, first: Shot, moving: Moving | None, commission: "_Commission"
    ) -> Finding:
        with commission.watch.step("compare"):
            base = await self._baseline(baseline)
        if base is None or first.key is None:
            return incomparable(first)
        compared = await self._compare(commission, base, first)
        if not needs_second(Seen(first.key, compared.outcome)):
            return unchanged(first, compared)
        if lies_where_it_moves(compared, commission.snapshot.moving):
            return moved_as_before(first, compared, commission.snapshot.moving)
        if moving and moving.excuses(compared, commission.snapshot.moving):
            return unstable(first, compared, moving, commission.snapshot.moving)
        commission.watch.add("first_picture", first.took_ms / 1_000)
        second = await self._shoot(commission, Page.FRESH)
        return await self._confirmed(commission, Suspicion(base, first, second, compared))

    async def _baseline(self, key: BlobKey) -> bytes | None:
        """Return the baseline's picture, None if the storage lost or damaged it."""
        try:
            content = await self._blobs.read(key)
        except MissingBlobError:
            return None
        return content if key_of(content) == key else None

    async def _confirmed(self, commission: "_Commission", suspicion: Suspicion) -> Finding:
        """Judge by the second, clean picture too; a story that gives two pictures is unstable."""
        first, second, compared = suspicion.first, suspicion.second, suspicion.compared
        if second.captured.ending is Ending.ERRORED or second.key is None or first.key is None:
            return errored(second)
        if second.key == commission.snapshot.baseline_image:
            return same_bytes(second)
        between = None
        if second.key != first.key:
            between = await self._compare(commission, first.captured.png, second)
            compared = await self._compare(commission, suspicion.base, second)
        confirmed = conclude(
            Seen(first.key, suspicion.compared.outcome),
            Seen(second.key, compared.outcome),
            Outcome.IDENTICAL if between is None else between.outcome,
        )
        moving = await self._moving(commission, second)
        if between is not None and (moving or confirmed.conclusion is Conclusion.UNSTABLE):
            moving = with_frame(moving, first, between)
        return concluded(confirmed, second, compared, (moving, commission.snapshot.moving))

    async def _shoot(self, commission: "_Commission", page: Page) -> Shot:
        child, snapshot, work = commission.child, commission.snapshot, commission.work
        viewport = snapshot.options.viewport
        wanted = CaptureRequest(
            story_id=snapshot.key.story_id,
            viewport_width_px=viewport.width_px,
            viewport_height_px=viewport.height_px,
            scale=viewport.scale,
            delay_ms=snapshot.options.delay_ms,
            page=page,
            timeout_ms=self._timeout_ms + snapshot.options.delay_ms,
            look=snapshot.options.look,
            baseline=snapshot.baseline_image,
            level=snapshot.level,
            examination=EXAMINATIONS[snapshot.options.accessibility],
            checks=snapshot.options.checks,
        )
        began = self._clock.monotonic()
        try:
            captured = await child.capture(wanted, work.touch)
        except RequestFailedError as failed:
            raise laid_on_its_story(child, snapshot, failed) from failed
        commission.ignored.update(dict.fromkeys(captured.ignored))
        took_ms = round((self._clock.monotonic() - began) * 1000)
        work.touch()
        return Shot(captured, self._checked_key(child, captured), took_ms)

    def _checked_key(self, child: Child, captured: Captured) -> BlobKey | None:
        """Return the picture's own hash; a child that lies about its picture is not believed."""
        if not captured.png:
            return None
        try:
            header = read_header(captured.png)
        except BadPngError as error:
            raise violated(child, captured, str(error)) from error
        if (header.width_px, header.height_px) != (captured.width_px, captured.height_px):
            raise violated(child, captured, "the picture's size is not what was said")
        return BlobKey(sha256(captured.png).hexdigest())

    def _frame(self, child: Child, shot: Shot, png: bytes) -> Shot:
        """Return another picture of the same capture as a shot of its own."""
        try:
            header = read_header(png)
        except BadPngError as error:
            raise violated(child, shot.captured, f"a frame: {error}") from error
        captured = replace(
            shot.captured, png=png, width_px=header.width_px, height_px=header.height_px
        )
        return Shot(captured, self._checked_key(child, captured), shot.took_ms)

    async def _compare(
        self,
        commission: "_Commission",
        base: bytes,
        head: Shot,
        options: CompareOptions | None = None,
    ) -> Compared:
        usual = _options(commission.snapshot.options)
        asked = replace(options or usual, ignored=tuple(commission.ignored))
        with commission.watch.step("compare"):
            compared = await commission.child.compare(asked, base, head.captured.png)
        commission.work.touch()
        self._check_mask(commission.child, head.captured, compared)
        return compared

    def _check_mask(self, child: Child, captured: Captured, compared: Compared) -> None:
        """Refuse a mask that is no picture, or lies beside what was compared."""
        if not compared.mask:
            return
        try:
            header = read_header(compared.mask)
        except BadPngError as error:
            raise violated(child, captured, f"its mask: {error}") from error
        sizes = (compared.base_size, compared.head_size)
        width_px, height_px = (
            max(size.width for size in sizes),
            max(size.height for size in sizes),
        )
        if (
            compared.mask_x + header.width_px > width_px
            or compared.mask_y + header.height_px > height_px
        ):
            raise violated(child, captured, "its mask is larger than what was compared")

    async def _stored(self, commission: "_Commission", finding: Finding) -> SnapshotResult:
        captured, compared = finding.shot.captured, finding.compared
        findings = findings_of((finding.examined or finding.shot).captured)
        with commission.watch.step("store"):
            touch = commission.work.touch
            mask = await self._mask(compared, touch)
            picture = await self._picture(finding.shot, touch)
            frames = [await self._picture(shot, touch) for shot in finding.frames]
        return SnapshotResult(
            id=commission.snapshot.id,
            verdict=finding.verdict,
            reason=finding.reason,
            pixels=finding.pixels,
            environment_id=self.environment,
            duration_ms=finding.shot.took_ms,
            picture=picture,
            diff=None if compared is None else diff_of(compared, finding.moving),
            mask=mask,
            frames=tuple(frame for frame in frames if frame is not None),
            error=error_of(captured),
            warnings=(
                *finding.warnings,
                *_notices(captured),
                *nothing_compared(captured, commission.ignored, commission.snapshot.moving),
                *notices_of(findings),
            ),
            timings_ms={**captured.timings_ms, **commission.watch.taken_ms},
            ignored=regions_of(captured.ignored),
            console=tuple(ConsoleLine(line.level, line.text) for line in captured.console),
            level=_level(finding),
            findings=findings,
            standing=standing_of(commission.snapshot, findings),
            order_dependence=_dependence(captured),
        )

    async def _mask(
        self, compared: Compared | None, touch: Callable[[], None]
    ) -> StoredMask | None:
        if compared is None or not compared.mask:
            return None
        return StoredMask(await self._shelf.put(compared.mask, touch), len(compared.mask))

    async def _picture(self, shot: Shot, touch: Callable[[], None]) -> Picture | None:
        """Store the browser's own bytes, never re-encoded: only so can the next equal them."""
        if shot.key is None:
            return None
        png = shot.captured.png
        await self._shelf.put(png, touch)
        return Picture(shot.key, len(png), shot.captured.width_px, shot.captured.height_px)


@dataclass(frozen=True, slots=True)
class _Commission:
    """One snapshot to capture: with which child, for which job, and what it took so far."""

    child: Child
    snapshot: PlannedSnapshot
    work: Work
    watch: Stopwatch
    ignored: dict[Box, None]  # of the baseline and of every picture so far, in their order


def _page_for(snapshot: PlannedSnapshot) -> Page:
    """Return where a story is shown at first; only a baseline can confirm a switched page."""
    match snapshot.options.isolation:
        case Isolation.SHARED:
            return Page.SHARED if snapshot.baseline_image is None else Page.SWITCHED
        case Isolation.STRICT:
            return Page.SHARED
        case Isolation.FRESH:
            return Page.FRESH


def _dependence(captured: Captured) -> OrderDependence | None:
    found = captured.order_dependence
    return None if found is None else OrderDependence(found.suspect, found.left)


def _notices(captured: Captured) -> tuple[Notice, ...]:
    found = _dependence(captured)
    said = (Notice(warning.code, warning.text) for warning in captured.warnings)
    return (*said, *(() if found is None else (seen(found),)))


def crashed(
    snapshot: PlannedSnapshot, last_death: str, environment: EnvironmentId
) -> SnapshotResult:
    """Return the result of a story on which the browser's process died twice."""
    return SnapshotResult(
        id=snapshot.id,
        verdict=Verdict.ERRORED,
        reason="The browser's process died twice while it rendered this story.",
        pixels=Pixels.DIFFERENT,
        environment_id=environment,
        duration_ms=0,
        error=CaptureError("page_crashed", last_death),
    )


def _level(finding: Finding) -> Level | None:
    """Return the rung; what two pages disagree about never held still, whatever each showed."""
    if finding.verdict is Verdict.ERRORED:
        return None
    return Level.NEVER if finding.verdict is Verdict.UNSTABLE else finding.shot.captured.level


def _options(asked: CaptureOptions) -> CompareOptions:
    return replace(
        EVERY_PIXEL,
        threshold=asked.diff_threshold,
        include_aa=asked.includes_edges,
        faint=Faint.COUNTS,
    )
