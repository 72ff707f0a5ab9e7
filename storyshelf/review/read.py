"""What pages and the API show of builds, shards and snapshots; nothing here locks or writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select, tuple_
from sqlalchemy.orm import aliased

from storyshelf.builds import shard_store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import CAPTURE
from storyshelf.builds.shard_store import Shard
from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, SnapshotRow
from storyshelf.ids import BlobKey, BuildId, SnapshotId
from storyshelf.queue import store as queue
from storyshelf.queue.job import JobState
from storyshelf.queue.store import Attempt
from storyshelf.shards.eta import WINDOW_COMPLETIONS, Eta, estimate
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.decision import Decision, NoSuchSnapshotError
from storyshelf.snapshots.snapshot import Verdict

NOT_RENDERED = (Verdict.INHERITED, Verdict.SKIPPED, Verdict.REMOVED)
NEVER_CAPTURED = "It was never captured: the build ended before its turn."
COMPLETIONS_READ = 10 * WINDOW_COMPLETIONS  # a fast build finishes more than 20 in a minute


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the captures of a build are."""

    done: int
    total: int
    eta: Eta | None = None


@dataclass(frozen=True, slots=True)
class BuildView:
    """A build with its counts, as a list or a page shows it."""

    build: Build
    counts: Counts
    ancestor_number: int | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class BaselineView:
    """The snapshot that was compared with, and the build that it was made in."""

    snapshot_id: SnapshotId
    build_number: int
    image: BlobKey | None
    width_px: int | None
    height_px: int | None


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """A snapshot with everything that explains it; the stored JSON is passed on as it is."""

    id: SnapshotId
    story_id: str
    mode: str
    browser: str
    title: str
    name: str
    import_path: str
    options: Mapping[str, Any]
    verdict: Verdict
    reason: str
    decision: Decision
    decided_by: str | None
    decided_at: datetime | None
    image: BlobKey | None
    width_px: int | None
    height_px: int | None
    diff: Mapping[str, Any] | None
    mask: BlobKey | None
    frames: Sequence[BlobKey]
    error: Mapping[str, Any] | None
    warnings: Sequence[Mapping[str, Any]]
    timings_ms: Mapping[str, float]
    duration_ms: int | None
    environment: str | None
    captured_at: datetime | None
    baseline_reason: str
    baseline: BaselineView | None


@dataclass(frozen=True, slots=True)
class SnapshotFilter:
    """Which snapshots a list shows, from after which one."""

    verdict: Verdict | None = None
    after: tuple[str, SnapshotId] | None = None  # title and id of the last one seen


@dataclass(frozen=True, slots=True)
class ShardView:
    """A shard with the tries at its job so far."""

    shard: Shard
    attempts: Sequence[Attempt]
    consumer: str | None


async def build_views(tx: Tx, builds: Sequence[Build]) -> Sequence[BuildView]:
    """Return the builds with counts and ancestors, in two statements however many they are."""
    counts = await snapshots.counts_of(tx, {b.id: b.planned_generation for b in builds})
    numbers = await _numbers(tx, [b.ancestor_build_id for b in builds if b.ancestor_build_id])
    return [
        BuildView(
            build=build,
            counts=counts[build.id],
            ancestor_number=numbers.get(build.ancestor_build_id),
            progress=_progress(counts[build.id]),
        )
        for build in builds
    ]


async def build_view(tx: Tx, build: Build, now: datetime) -> BuildView:
    """Return one build, with the time that is left computed from its last completions."""
    (view,) = await build_views(tx, [build])
    if build.state is not BuildState.CAPTURING:
        return view
    times = await snapshots.completions(tx, build.id, build.planned_generation, COMPLETIONS_READ)
    live = await queue.live_jobs(tx, build.id)
    running = sum(job.kind == CAPTURE and job.state is JobState.RUNNING for job in live)
    left = view.progress.total - view.progress.done
    eta = estimate(times, left, running, now)
    progress = Progress(view.progress.done, view.progress.total, eta)
    return BuildView(view.build, view.counts, view.ancestor_number, progress)


async def snapshot_page(
    tx: Tx, build: Build, shown: SnapshotFilter, limit: int
) -> Sequence[SnapshotView]:
    """Return snapshots in order of their stories, from after the given one."""
    wanted = [_of(build)]
    if shown.verdict is not None:
        wanted.append(SnapshotRow.verdict == shown.verdict)
    if shown.after is not None:
        wanted.append(tuple_(SnapshotRow.title, SnapshotRow.id) > tuple_(*shown.after))
    rows = await tx.execute(
        _snapshots().where(*wanted).order_by(SnapshotRow.title, SnapshotRow.id).limit(limit)
    )
    return [_view(row, build) for row in rows]


async def first_of_each_verdict(tx: Tx, build: Build, at_most: int) -> Sequence[SnapshotView]:
    """Return the first snapshots of every verdict, in one statement, in order of their stories."""
    place = func.row_number().over(
        partition_by=SnapshotRow.verdict, order_by=(SnapshotRow.title, SnapshotRow.id)
    )
    ranked = select(SnapshotRow.id, place.label("place")).where(_of(build)).subquery()
    rows = await tx.execute(
        _snapshots()
        .join(ranked, (ranked.c.id == SnapshotRow.id) & (ranked.c.place <= at_most))
        .order_by(SnapshotRow.title, SnapshotRow.id)
    )
    return [_view(row, build) for row in rows]


async def snapshot_view(tx: Tx, build: Build, snapshot_id: SnapshotId) -> SnapshotView:
    """Return one snapshot of the build; raises NoSuchSnapshotError."""
    rows = await tx.execute(_snapshots().where(_of(build), SnapshotRow.id == snapshot_id))
    row = rows.one_or_none()
    if row is None:
        raise NoSuchSnapshotError(build.number, snapshot_id)
    return _view(row, build)


async def neighbours(
    tx: Tx, build: Build, snapshot: SnapshotView
) -> tuple[SnapshotId | None, SnapshotId | None]:
    """Return the snapshots before and after this one among those of its verdict."""
    same = (_of(build), SnapshotRow.verdict == snapshot.verdict)
    place = tuple_(SnapshotRow.title, SnapshotRow.id)
    here = tuple_(snapshot.title, snapshot.id)
    ids = select(SnapshotRow.id).where(*same).limit(1)
    backwards = ids.where(place < here).order_by(SnapshotRow.title.desc(), SnapshotRow.id.desc())
    forwards = ids.where(place > here).order_by(SnapshotRow.title, SnapshotRow.id)
    before = (await tx.execute(backwards)).scalar_one_or_none()
    after = (await tx.execute(forwards)).scalar_one_or_none()
    return before, after


async def shard_views(tx: Tx, build: Build) -> Sequence[ShardView]:
    """Return the build's shards with the attempts of their jobs."""
    shards = await shard_store.of_build(tx, build.id, build.planned_generation)
    jobs = [shard.job_id for shard in shards if shard.job_id is not None]
    attempts = await queue.attempts_of(tx, jobs)
    holders = {job.job_id: job.consumer_id for job in await queue.live_jobs(tx, build.id)}
    return [
        ShardView(
            shard=shard,
            attempts=[attempt for attempt in attempts if attempt.job_id == shard.job_id],
            consumer=holders.get(shard.job_id) if shard.job_id else None,
        )
        for shard in shards
    ]


def _progress(counts: Counts) -> Progress:
    total = counts.total - counts.of(*NOT_RENDERED)
    return Progress(total - counts.of(Verdict.PLANNED), total)


async def _numbers(tx: Tx, ids: Sequence[BuildId]) -> Mapping[BuildId | None, int]:
    rows = await tx.execute(select(BuildRow.id, BuildRow.number).where(BuildRow.id.in_(ids)))
    return {row.id: row.number for row in rows}


def _of(build: Build) -> ColumnElement[bool]:
    return (SnapshotRow.build_id == build.id) & (SnapshotRow.generation == build.planned_generation)


def _snapshots() -> Select[*tuple[Any, ...]]:
    baseline, of_build = aliased(SnapshotRow), aliased(BuildRow)
    return (
        select(
            *SnapshotRow.__table__.columns,
            baseline.image_key.label("baseline_image"),
            baseline.width_px.label("baseline_width_px"),
            baseline.height_px.label("baseline_height_px"),
            of_build.number.label("baseline_build"),
        )
        .outerjoin(baseline, baseline.id == SnapshotRow.baseline_snapshot_id)
        .outerjoin(of_build, of_build.id == baseline.build_id)
    )


def _view(row: Row[*tuple[Any, ...]], build: Build) -> SnapshotView:
    return SnapshotView(
        id=SnapshotId(row.id),
        story_id=row.story_id,
        mode=row.mode,
        browser=row.browser,
        title=row.title,
        name=row.name,
        import_path=row.import_path,
        options=row.options,
        verdict=Verdict(row.verdict),
        reason=NEVER_CAPTURED if _was_left(row, build) else row.reason,
        decision=Decision(row.decision),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        image=row.image_key,
        width_px=row.width_px,
        height_px=row.height_px,
        diff=row.diff,
        mask=row.mask_key,
        frames=row.frames,
        error=row.error,
        warnings=row.warnings,
        timings_ms=row.timings_ms,
        duration_ms=row.duration_ms,
        environment=row.environment_id,
        captured_at=row.captured_at,
        baseline_reason=row.baseline_reason,
        baseline=_baseline(row),
    )


def _was_left(row: Row[*tuple[Any, ...]], build: Build) -> bool:
    """Tell whether the build ended before the snapshot had its turn."""
    return build.has_ended and row.verdict == Verdict.PLANNED


def _baseline(row: Row[*tuple[Any, ...]]) -> BaselineView | None:
    if row.baseline_snapshot_id is None:
        return None
    return BaselineView(
        snapshot_id=row.baseline_snapshot_id,
        build_number=row.baseline_build,
        image=row.baseline_image,
        width_px=row.baseline_width_px,
        height_px=row.baseline_height_px,
    )
