"""The JSON that the API gives; what it takes is in `requests`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from storyshelf.api.violations import AccessibilityOut, ViolationOut, violations_of
from storyshelf.review.read import BuildView, ExaminedView, Progress, ShardView, SnapshotView
from storyshelf.shards.eta import Eta
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.web.links import Links


class LimitsOut(BaseModel):
    """What an upload may hold."""

    max_files: int
    max_file_bytes: int
    max_bundle_bytes: int
    max_path_length: int


class ProjectOut(BaseModel):
    """A project."""

    slug: str
    name: str
    default_branch: str
    url: str


class EtaOut(BaseModel):
    """Seconds that are left."""

    low: float
    likely: float
    high: float

    @classmethod
    def of(cls, eta: Eta) -> "EtaOut":
        """Return what is shown of it."""
        return cls(low=eta.low_s, likely=eta.likely_s, high=eta.high_s)


class ProgressOut(BaseModel):
    """How far the captures are; pace and time left are as of `sampled_at`."""

    done: int
    total: int
    rate_per_s: float | None = None
    eta_s: EtaOut | None = None
    sampled_at: datetime | None = None

    @classmethod
    def of(cls, progress: Progress) -> "ProgressOut":
        """Return what is shown of it."""
        eta: Eta | None = progress.eta
        return cls(
            done=progress.done,
            total=progress.total,
            rate_per_s=None if eta is None else eta.rate_per_s,
            eta_s=None if eta is None else EtaOut.of(eta),
            sampled_at=progress.sampled_at,
        )


class ObstacleOut(BaseModel):
    """What a build waits for that no consumer does at the moment; lists do not tell it."""

    what: str
    next_step: str


class CountsOut(BaseModel):
    """How many snapshots stand where."""

    planned: int
    unchanged: int
    changed: int
    added: int
    removed: int
    inherited: int
    errored: int
    unstable: int
    skipped: int
    accepted: int
    denied: int
    undecided: int

    @classmethod
    def of(cls, counts: Counts) -> "CountsOut":
        """Return what is shown of them."""
        verdicts = {verdict.value: counts.of(verdict) for verdict in Verdict}
        decisions = {
            "accepted": counts.accepted, "denied": counts.denied, "undecided": counts.undecided,
        }  # fmt: skip
        return cls(**verdicts, **decisions)


class BuildOut(BaseModel):
    """A build."""

    number: int
    url: str
    storybook_url: str | None
    state: str
    state_reason: str | None
    branch: str
    commit: str
    message: str | None
    author: str | None
    generation: int
    created_at: datetime
    sealed_at: datetime | None
    planned_at: datetime | None
    ended_at: datetime | None
    ancestor: int | None
    counts: CountsOut
    progress: ProgressOut
    rule: str | None
    environment: str | None
    waits_for: ObstacleOut | None
    planned_again: str | None
    accessibility: AccessibilityOut | None  # null: nobody looked
    warnings: Sequence[str]  # of the Storybook as a whole

    @classmethod
    def of(cls, view: BuildView, links: Links, slug: str) -> "BuildOut":
        """Return what is shown of it."""
        build = view.build
        return cls(
            number=build.number,
            url=links.build(slug, build.number),
            storybook_url=links.storybook(slug, build.number) if build.sealed_at else None,
            state=build.state,
            state_reason=build.state_reason,
            branch=build.branch,
            commit=build.commit,
            message=build.message,
            author=build.author,
            generation=build.generation,
            created_at=build.created_at,
            sealed_at=build.sealed_at,
            planned_at=build.planned_at,
            ended_at=build.ended_at,
            ancestor=view.ancestor_number,
            counts=CountsOut.of(view.counts),
            progress=ProgressOut.of(view.progress),
            rule=build.rule,
            environment=build.environment_id,
            waits_for=_waits_for(view),
            planned_again=build.replan_reason,
            accessibility=AccessibilityOut.of_build(view.counts.violations),
            warnings=build.warnings,
        )


class OneBuild(BaseModel):
    """A build by itself."""

    build: BuildOut


class OpenedBuild(OneBuild):
    """A build that takes files, and the contents it lacks."""

    missing: Sequence[str]


class DecidedBuild(OneBuild):
    """A build after a decision, and on how many snapshots it was taken."""

    decided: int


class BuildPage(BaseModel):
    """Builds, the newest first."""

    items: Sequence[BuildOut]
    next: str | None


class BaselineOut(BaseModel):
    """What a snapshot was compared with, and why with that."""

    snapshot_id: int
    build: int
    image: str | None
    reason: str


class DiffOut(BaseModel):
    """What the comparison counted."""

    changed_px: int
    raw_px: int
    regions: Sequence[tuple[int, int, int, int]]
    engine: str
    mask: str | None
    size_changed: bool
    moving: Sequence[tuple[int, int, int, int]]


class ErrorOut(BaseModel):
    """Why a story could not be captured."""

    code: str
    message: str
    stack: str


class NoticeOut(BaseModel):
    """A warning about a capture."""

    code: str
    text: str


class ConsoleLineOut(BaseModel):
    """What a story wrote to the browser's console."""

    level: str
    text: str


class SnapshotOut(BaseModel):
    """A snapshot."""

    id: int
    url: str
    story_id: str
    title: str
    name: str
    mode: str
    browser: str
    verdict: Verdict
    reason: str
    decision: Decision
    decided_by: str | None
    image: str | None
    frames: Sequence[str]
    baseline: BaselineOut | None
    baseline_reason: str
    error: ErrorOut | None
    warnings: Sequence[NoticeOut]
    console: Sequence[ConsoleLineOut]
    diff: DiffOut | None
    ignored: Sequence[tuple[int, int, int, int]]
    width_px: int | None
    height_px: int | None
    timings_ms: Mapping[str, float]
    environment: str | None
    accessibility: AccessibilityOut | None  # null: nobody looked
    violations: Sequence[ViolationOut] | None = None  # of a snapshot by itself

    @classmethod
    def of(
        cls, view: SnapshotView, url: str, examined: ExaminedView | None = None
    ) -> "SnapshotOut":
        """Return what is shown of it."""
        return cls(
            id=view.id,
            url=url,
            story_id=view.story_id,
            title=view.title,
            name=view.name,
            mode=view.mode,
            browser=view.browser,
            verdict=view.verdict,
            reason=view.reason,
            decision=view.decision,
            decided_by=view.decided_by,
            image=view.image,
            frames=view.frames,
            baseline=_baseline(view),
            baseline_reason=view.baseline_reason,
            error=None if view.error is None else ErrorOut(**view.error),
            warnings=[NoticeOut(**warning) for warning in view.warnings],
            console=[ConsoleLineOut(**line) for line in view.console],
            diff=None if view.diff is None else _diff(view.diff, view.mask),
            ignored=view.ignored,
            width_px=view.width_px,
            height_px=view.height_px,
            timings_ms=view.timings_ms,
            environment=view.environment,
            accessibility=AccessibilityOut.of_snapshot(view),
            violations=violations_of(examined),
        )


class SnapshotPage(BaseModel):
    """Snapshots in order of their stories."""

    items: Sequence[SnapshotOut]
    next: str | None


class ShardOut(BaseModel):
    """A shard."""

    number: int
    state: Literal["open", "done", "failed", "cancelled"]
    stories: int
    attempts: int
    consumer: str | None
    environment: str | None
    error: str | None
    opened_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, view: ShardView, environment: str | None) -> "ShardOut":
        """Return what is shown of it."""
        shard = view.shard
        return cls(
            number=shard.number,
            state=shard.state.value,
            stories=shard.stories,
            attempts=len(view.attempts) + (view.consumer is not None),
            consumer=view.consumer,
            environment=environment,
            error=shard.error,
            opened_at=shard.opened_at,
            closed_at=shard.closed_at,
        )


class ShardList(BaseModel):
    """All shards of a build; planning bounds their number."""

    items: Sequence[ShardOut]
    next: None = None


def _waits_for(view: BuildView) -> ObstacleOut | None:
    if view.obstacle is None:
        return None
    return ObstacleOut(what=view.obstacle.what, next_step=view.obstacle.next_step)


def _baseline(view: SnapshotView) -> BaselineOut | None:
    if view.baseline is None:
        return None
    return BaselineOut(
        snapshot_id=view.baseline.snapshot_id,
        build=view.baseline.build_number,
        image=view.baseline.image,
        reason=view.baseline_reason,
    )


def _diff(stored: Mapping[str, Any], mask: str | None) -> DiffOut:
    return DiffOut(
        changed_px=stored["changed_px"],
        raw_px=stored["raw_px"],
        regions=stored["regions"],
        engine=f"{stored['metric']} {stored['engine']} {stored['engine_version']}",
        mask=mask,
        size_changed=stored["base_size"] != stored["head_size"],
        moving=stored.get("moving", ()),
    )
