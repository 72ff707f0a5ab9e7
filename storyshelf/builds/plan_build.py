"""Plan a build: which snapshots it has, what each is compared with, and how they are cut."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from storyshelf.baselines.choose import Ancestor, Baseline, choose
from storyshelf.builds import environment_store, moving, shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import capture_job, finalise_job
from storyshelf.bundle.index import Story
from storyshelf.bundle.isolation import Isolation
from storyshelf.bundle.look import USUAL, USUAL_PADDING_PX, Look
from storyshelf.bundle.parameters import ParameterWarning, ReadParameters, StoryParameters, modes_of
from storyshelf.bundle.tags import why_left_out
from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, EnvironmentId, ShardId, SnapshotKey, StoryId
from storyshelf.projects import store as projects
from storyshelf.projects.branches import is_among
from storyshelf.projects.options import ProjectOptions
from storyshelf.queue import store as queue
from storyshelf.shards.plan import PlannedCapture, cut
from storyshelf.snapshots import dependence_store
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.decision import ACCEPTED_BRANCH, FIRST_BUILD, accepted_by
from storyshelf.snapshots.dependence import kept_apart
from storyshelf.snapshots.snapshot import CaptureOptions, Notice, OrderDependence, Verdict
from storyshelf.snapshots.store import AncestorSnapshot, NewSnapshot

UNREAD = ParameterWarning(
    "unread_parameters", "The story's parameters could not be read; the defaults were used."
)
NOTHING_ASKED = ReadParameters(StoryParameters())
UNREAD_DEFAULTS = ReadParameters(StoryParameters(), (UNREAD,))


@dataclass(frozen=True, slots=True)
class BundleContent:
    """What the bundle itself says: its stories, and the parameters that a loaded page gave."""

    stories: Sequence[Story]
    parameters: Mapping[StoryId, ReadParameters]
    docs: AbstractSet[Story] = frozenset()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What planning reads from the database and the consumer."""

    build: Build
    options: ProjectOptions
    ancestor: Build | None
    ancestor_rows: Sequence[AncestorSnapshot]
    is_first: bool
    environment: EnvironmentId
    slots: int
    shard_cost_ms: int
    kept_apart: Mapping[SnapshotKey, OrderDependence] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What `apply` writes: the rows, the size of each shard, and where they came from."""

    build_id: BuildId
    generation: int
    environment: EnvironmentId
    ancestor_id: BuildId | None
    rule: str | None
    rows: Sequence[NewSnapshot] = ()
    shard_sizes: Sequence[int] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


async def read_surroundings(
    tx: Tx, build_id: BuildId, environment: EnvironmentId, *, slots: int, shard_cost_ms: int
) -> Surroundings:
    """Read what the plan depends on; the ancestor is pinned from here on."""
    build = await store.by_id(tx, build_id)
    project = await projects.by_id(tx, build.project_id)
    ancestor = await store.ancestor_of(tx, build, project.default_branch)
    rows: Sequence[AncestorSnapshot] = ()
    if ancestor is not None:
        assert ancestor.planned_generation is not None, "an ancestor was planned"
        rows = await snapshots.of_ancestor(tx, ancestor.id, ancestor.planned_generation)
    return Surroundings(
        build=build,
        options=project.options,
        ancestor=ancestor,
        ancestor_rows=rows,
        is_first=await store.is_first(tx, build),
        environment=environment,
        slots=slots,
        shard_cost_ms=shard_cost_ms,
        kept_apart=await dependence_store.proven(tx, project.id),
    )


def plan(content: BundleContent, around: Surroundings) -> Plan:
    """Decide a build's snapshots and shards; no story is lost, and the order given is no matter."""
    ancestor = _ancestor(around)
    current = [
        row
        for story in sorted(_shown(content, around.options), key=lambda story: story.story_id)
        for row in _rows_of(story, content, around, ancestor)
    ]
    rows = [*current, *_removed(around, ancestor, {row.key for row in current})]
    sized, sizes = _in_shards(rows, around)
    return Plan(
        build_id=around.build.id,
        generation=around.build.generation,
        environment=around.environment,
        ancestor_id=None if around.ancestor is None else around.ancestor.id,
        rule=_rule(around),
        rows=sized,
        shard_sizes=sizes,
        warnings=content.warnings,
    )


def _shown(content: BundleContent, options: ProjectOptions) -> Sequence[Story]:
    return (*content.stories, *content.docs) if options.captures_docs else content.stories


def _rule(around: Surroundings) -> str | None:
    if is_among(around.build.branch, around.options.accepts_branches):
        return ACCEPTED_BRANCH
    return FIRST_BUILD if around.is_first else None


async def apply_plan(tx: Tx, plan: Plan) -> None:
    """Write the plan, with the jobs that carry it out, unless the build has moved meanwhile."""
    build = await store.lock(tx, plan.build_id)
    if build.state is not BuildState.PLANNING or build.generation != plan.generation:
        return  # cancelled while it was planned
    await environment_store.know_environment(tx, plan.environment, plan.facts)
    shards = await shard_store.add(tx, build.id, plan.generation, plan.shard_sizes)
    ids = {shard.number: shard.id for shard in shards}
    await snapshots.add(tx, (build.id, plan.generation), plan.rows, ids, accepted_by(plan.rule))
    pinned = store.Pinned(plan.ancestor_id, plan.environment, plan.rule, plan.warnings)
    build = await moving.start_capture(tx, build, len(shards), pinned)
    await _enqueue(tx, build, [shard.id for shard in shards])


async def _enqueue(tx: Tx, build: Build, shards: Sequence[ShardId]) -> None:
    if not shards:  # nothing to render: the build is finished by whoever planned it
        (job_id,) = await queue.enqueue(tx, [finalise_job(build)])
        assert job_id is not None, "no other finalise job of this generation can be live"
        await store.set_finalise_job(tx, build, job_id)
        return
    job_ids = await queue.enqueue(tx, [capture_job(build, shard) for shard in shards])
    assert None not in job_ids, "a shard that was just made has no other job"
    await shard_store.set_jobs(tx, dict(zip(shards, (j for j in job_ids if j), strict=True)))


def _ancestor(around: Surroundings) -> Ancestor | None:
    if around.ancestor is None:
        return None
    effective = {row.key: row.effective_id for row in around.ancestor_rows}
    return Ancestor(around.ancestor.number, around.ancestor.branch, effective)


def _rows_of(
    story: Story, content: BundleContent, around: Surroundings, ancestor: Ancestor | None
) -> Sequence[NewSnapshot]:
    read = _read(story, content)
    left_out = why_left_out(story.tags, around.options.story_tags)
    options = _capture_options(read.parameters, around.options)
    rows = []
    for mode in modes_of(read.parameters, around.options.viewports):
        key = SnapshotKey(story.story_id, mode.name)
        baseline = choose(key, ancestor, around.build.branch)
        verdict, reason = _first_verdict(left_out, read.parameters, baseline)
        isolation, apart = _isolation(key, options.isolation, around)
        rows.append(
            NewSnapshot(
                key=key,
                title=story.title,
                name=story.name,
                import_path=story.import_path,
                options=replace(
                    options,
                    viewport=mode.viewport,
                    look=_look(mode.look, around.options),
                    isolation=isolation,
                ),
                verdict=verdict,
                reason=reason,
                baseline_id=baseline.snapshot_id,
                baseline_reason=baseline.reason,
                warnings=(*(Notice(each.code, each.text) for each in read.warnings), *apart),
            )
        )
    return rows


def _look(wished: Look, project: ProjectOptions) -> Look:
    """A story's own padding beats its project's, and the usual one is not stored."""
    if wished.padding_px != USUAL or project.padding == USUAL_PADDING_PX:
        return wished
    return replace(wished, padding_px=project.padding)


def _capture_options(wished: StoryParameters, project: ProjectOptions) -> CaptureOptions:
    """What a story asks for itself beats what its project does."""
    threshold = wished.diff_threshold
    return CaptureOptions(
        delay_ms=wished.delay_ms,
        diff_threshold=project.diff_threshold if threshold is None else threshold,
        includes_edges=wished.includes_edges,
        accessibility=wished.accessibility.at(project.accessibility),
        checks=wished.accessibility.checks,
        isolation=wished.isolation or project.isolation,
    )


def _isolation(
    key: SnapshotKey, asked: Isolation, around: Surroundings
) -> tuple[Isolation, tuple[Notice, ...]]:
    """Return what the story is shown in, and why that is not what was asked for."""
    found = around.kept_apart.get(key)
    if asked is not Isolation.SHARED or found is None:
        return asked, ()
    return Isolation.STRICT, (kept_apart(found),)


def _read(story: Story, content: BundleContent) -> ReadParameters:
    """Return what a story asks for; a docs page has no parameters, and nothing is missed there."""
    otherwise = NOTHING_ASKED if story in content.docs else UNREAD_DEFAULTS
    return content.parameters.get(story.story_id, otherwise)


def _first_verdict(
    left_out: str, parameters: StoryParameters, baseline: Baseline
) -> tuple[Verdict, str]:
    if left_out:
        return Verdict.SKIPPED, f"It is not captured, because {left_out}."
    if parameters.skip_reason:
        return Verdict.SKIPPED, f"It is not captured: {parameters.skip_reason}"
    if parameters.disable_snapshot:
        return Verdict.SKIPPED, "It is not captured, because its parameters set disableSnapshot."
    if baseline.snapshot_id is None:
        return Verdict.PLANNED, "It waits to be captured; there is no baseline to compare it with."
    return Verdict.PLANNED, "It waits to be captured and compared with its baseline."


def _removed(
    around: Surroundings, ancestor: Ancestor | None, current: set[SnapshotKey]
) -> Sequence[NewSnapshot]:
    """Return a row for each key that has a baseline, but no story any more."""
    if ancestor is None:
        return ()
    return [
        NewSnapshot(
            key=row.key,
            title=row.title,
            name=row.name,
            import_path=row.import_path,
            options=row.options,
            verdict=Verdict.REMOVED,
            reason=f"This build has no such story or mode; build {ancestor.number} had it.",
            baseline_id=row.effective_id,
            baseline_reason=choose(row.key, ancestor, around.build.branch).reason,
        )
        for row in sorted(around.ancestor_rows, key=lambda row: row.key)
        if row.key not in current and row.effective_id is not None
    ]


def _in_shards(
    rows: Sequence[NewSnapshot], around: Surroundings
) -> tuple[Sequence[NewSnapshot], Sequence[int]]:
    costs = {row.key: row.cost_ms for row in around.ancestor_rows}
    shards = cut(
        [
            PlannedCapture(row.key, costs.get(row.key))
            for row in rows
            if row.verdict is Verdict.PLANNED
        ],
        around.shard_cost_ms,
        slots=around.slots,
    )
    number_of = {
        capture.key: number for number, shard in enumerate(shards, start=1) for capture in shard
    }
    numbered = [replace(row, shard_number=number_of.get(row.key)) for row in rows]
    return numbered, [len(shard) for shard in shards]
