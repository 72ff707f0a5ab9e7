"""What pages and the API show of builds, shards and snapshots; nothing here locks or writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.orm import aliased

from storyshelf.builds import progress_store, shard_store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.serving import Obstacle, obstacle_of
from storyshelf.builds.shard_store import Shard
from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, SnapshotRow
from storyshelf.diff.cover import Region
from storyshelf.ids import BlobKey, BuildId, ShardId, SnapshotId, SnapshotKey, StoryId
from storyshelf.queue import store as queue
from storyshelf.queue.store import Attempt
from storyshelf.shards.eta import Eta
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.decision import Decision, NoSuchSnapshotError
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.snapshots.violations import Findings, Standing, all_new, compare

NOT_RENDERED = (Verdict.INHERITED, Verdict.SKIPPED, Verdict.REMOVED)
NEVER_CAPTURED = "It was never captured: the build ended before its turn."


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the captures of a build are, and their pace as it was last reckoned."""

    done: int
    total: int
    eta: Eta | None = None
    sampled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BuildView:
    """A build with its counts, as a list or a page shows it."""

    build: Build
    counts: Counts
    ancestor_number: int | None
    progress: Progress
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class BaselineView:
    """The snapshot that was compared with, the build that it was made in, and who accepted it."""

    snapshot_id: SnapshotId
    build_number: int
    branch: str
    commit: str
    accepted_by: str | None
    accepted_at: datetime | None
    image: BlobKey | None
    width_px: int | None
    height_px: int | None
    ignored: Sequence[Region]


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
    ignored: Sequence[Region]
    frames: Sequence[BlobKey]
    error: Mapping[str, Any] | None
    warnings: Sequence[Mapping[str, Any]]
    console: Sequence[Mapping[str, Any]]
    timings_ms: Mapping[str, float]
    duration_ms: int | None
    crashes: int
    shard_id: ShardId | None
    environment: str | None
    captured_at: datetime | None
    baseline_reason: str
    baseline: BaselineView | None
    violations: int | None = None
    new_violations: int | None = None
    fixed_violations: int | None = None

    @property
    def key(self) -> SnapshotKey:
        """What it is the picture of, in any build."""
        return SnapshotKey(StoryId(self.story_id), self.mode, self.browser)


@dataclass(frozen=True, slots=True)
class ShardView:
    """A shard with the tries at its job so far."""

    shard: Shard
    attempts: Sequence[Attempt]
    consumer: str | None


@dataclass(frozen=True, slots=True)
class ExaminedView:
    """What a snapshot breaks of accessibility; no standing: there is nothing to compare with."""

    findings: Findings
    standing: Standing | None


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


async def build_view(tx: Tx, build: Build) -> BuildView:
    """Return one build, with its pace as the last sample of it says, and what it waits for."""
    (view,) = await build_views(tx, [build])
    view = replace(view, obstacle=await obstacle_of(tx, build))
    if build.state is not BuildState.CAPTURING:
        return view
    sample = await progress_store.sample_of(tx, build.id, build.generation)
    if sample is None:
        return view
    progress = replace(view.progress, eta=sample.eta, sampled_at=sample.sampled_at)
    return replace(view, progress=progress)


async def snapshot_view(tx: Tx, build: Build, snapshot_id: SnapshotId) -> SnapshotView:
    """Return one snapshot of the build; raises NoSuchSnapshotError."""
    rows = await tx.execute(with_baselines().where(of_build(build), SnapshotRow.id == snapshot_id))
    row = rows.one_or_none()
    if row is None:
        raise NoSuchSnapshotError(build.number, snapshot_id)
    return view_of(row, build)


async def examined_of(tx: Tx, snapshot_id: SnapshotId) -> ExaminedView | None:
    """Return what a snapshot breaks of accessibility, beside its baseline; None: nobody looked."""
    baseline = aliased(SnapshotRow)
    rows = await tx.execute(
        select(
            SnapshotRow.accessibility,
            *(SnapshotRow.baseline_snapshot_id, baseline.accessibility.label("baseline")),
        )
        .outerjoin(baseline, baseline.id == SnapshotRow.baseline_snapshot_id)
        .where(SnapshotRow.id == snapshot_id, SnapshotRow.accessibility.is_not(None))
    )
    row = rows.one_or_none()
    if row is None:
        return None
    findings = Findings.parse(row.accessibility)
    if row.baseline_snapshot_id is None and not findings.problem:
        return ExaminedView(findings, all_new(findings))
    before = None if row.baseline is None else Findings.parse(row.baseline)
    return ExaminedView(findings, compare(before, findings))


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


async def shard_of(tx: Tx, snapshot: SnapshotView) -> ShardView | None:
    """Return the shard that a snapshot was captured in; None: it was not rendered."""
    if snapshot.shard_id is None:
        return None
    shard = await shard_store.by_id(tx, snapshot.shard_id)
    jobs = [] if shard.job_id is None else [shard.job_id]
    return ShardView(shard, await queue.attempts_of(tx, jobs), None)


def _progress(counts: Counts) -> Progress:
    total = counts.total - counts.of(*NOT_RENDERED)
    return Progress(total - counts.of(Verdict.PLANNED), total)


async def _numbers(tx: Tx, ids: Sequence[BuildId]) -> Mapping[BuildId | None, int]:
    rows = await tx.execute(select(BuildRow.id, BuildRow.number).where(BuildRow.id.in_(ids)))
    return {row.id: row.number for row in rows}


def of_build(build: Build) -> ColumnElement[bool]:
    """Return the condition that a snapshot is the build's as it was planned last."""
    return (SnapshotRow.build_id == build.id) & (SnapshotRow.generation == build.planned_generation)


def with_baselines() -> Select[*tuple[Any, ...]]:
    """Return the statement that reads what `view_of` takes."""
    baseline, made_in = aliased(SnapshotRow), aliased(BuildRow)
    return (
        select(
            *(each for each in SnapshotRow.__table__.columns if each.name != "accessibility"),
            baseline.image_key.label("baseline_image"),
            baseline.width_px.label("baseline_width_px"),
            baseline.height_px.label("baseline_height_px"),
            baseline.ignored.label("baseline_ignored"),
            baseline.decision.label("baseline_decision"),
            baseline.decided_by.label("baseline_decided_by"),
            baseline.decided_at.label("baseline_decided_at"),
            made_in.number.label("baseline_build"),
            made_in.branch.label("baseline_branch"),
            made_in.commit.label("baseline_commit"),
        )
        .outerjoin(baseline, baseline.id == SnapshotRow.baseline_snapshot_id)
        .outerjoin(made_in, made_in.id == baseline.build_id)
    )


def view_of(row: Row[*tuple[Any, ...]], build: Build) -> SnapshotView:
    """Return a row of `with_baselines` as pages and the API show it."""
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
        ignored=row.ignored,
        frames=row.frames,
        error=row.error,
        warnings=row.warnings,
        console=row.console,
        timings_ms=row.timings_ms,
        duration_ms=row.duration_ms,
        crashes=row.crashes,
        shard_id=row.shard_id,
        environment=row.environment_id,
        captured_at=row.captured_at,
        baseline_reason=row.baseline_reason,
        baseline=_baseline(row),
        violations=row.violations,
        new_violations=row.new_violations,
        fixed_violations=row.fixed_violations,
    )


def _was_left(row: Row[*tuple[Any, ...]], build: Build) -> bool:
    """Tell whether the build ended before the snapshot had its turn."""
    return build.has_ended and row.verdict == Verdict.PLANNED


def _baseline(row: Row[*tuple[Any, ...]]) -> BaselineView | None:
    if row.baseline_snapshot_id is None:
        return None
    is_accepted = row.baseline_decision == Decision.ACCEPTED
    return BaselineView(
        snapshot_id=row.baseline_snapshot_id,
        build_number=row.baseline_build,
        branch=row.baseline_branch,
        commit=row.baseline_commit,
        accepted_by=row.baseline_decided_by if is_accepted else None,
        accepted_at=row.baseline_decided_at if is_accepted else None,
        image=row.baseline_image,
        width_px=row.baseline_width_px,
        height_px=row.baseline_height_px,
        ignored=row.baseline_ignored,
    )
