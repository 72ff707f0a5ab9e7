"""Send an ended build back: captured again as a whole, or one shard of it."""

from storyshelf.audit import store as audit
from storyshelf.builds import moving, shard_store, store
from storyshelf.builds.build import (
    Build,
    BuildState,
    NeverSealedError,
    NothingToRetryError,
    NotOverError,
)
from storyshelf.builds.jobs import capture_job, for_somebody, plan_job
from storyshelf.builds.shard_store import Shard, ShardState
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store.waited_for import waited_for
from storyshelf.snapshots import store as snapshots

# Of one project on a lane: whoever asks again and again must not keep all others from their turn.
MOST_FIRST = 4


async def capture_again(db: Database, build_id: BuildId, actor: str) -> Build:
    """Plan and capture a build anew; raises BuildMovedError, NeverSealedError, NotOverError.

    Its rows of before stay, and stay visible until the new plan is written.
    """
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        if build.sealed_at is None:
            raise NeverSealedError(build.number)
        if not build.has_ended:
            raise NotOverError(build)
        queued = await moving.move(
            tx,
            build,
            BuildState.QUEUED,
            state_reason=None,
            replans=0,
            replan_reason=None,
            generation=build.generation + 1,
            open_shards=0,
            finalise_job_id=None,
        )
        (job_id,) = await queue.enqueue(tx, [await _in_its_class(tx, plan_job(queued))])
        await store.set_plan_job(tx, queued.id, job_id)
        await audit.record(tx, _event(build, "build.capture_again", actor))
        return queued


async def retry_shard(db: Database, build_id: BuildId, number: int, actor: str) -> Build:
    """Capture what a shard left undone that failed or was cancelled; its results so far are kept.

    Of a failed build, and of one that is captured still, or again. Raises NothingToRetryError,
    NoSuchShardError.
    """
    async with db.transaction() as tx:
        await shard_store.lock_all(tx, build_id)  # shards come before builds in the lock order
        build = await store.lock(tx, build_id)
        shard = await shard_store.by_number(
            tx, (build.id, build.number), build.planned_generation, number
        )
        _require_retriable(build, shard)
        await shard_store.reopen(tx, shard.id)
        capturing = await _with_one_more(tx, build)
        await audit.record(tx, _event(build, "shard.retry", actor))
        job = await _in_its_class(tx, capture_job(capturing, shard.id))
        (job_id,) = await queue.enqueue(tx, [job])
        assert job_id is not None, "a closed shard has no live job"
        await shard_store.set_jobs(tx, {shard.id: job_id})
        return capturing


async def _in_its_class(tx: Tx, job: NewJob) -> NewJob:
    """Let what somebody asked for go first, but only so much of a project at a time."""
    assert job.project_id is not None, "a build is of a project"
    is_one_too_many = await waited_for(tx, job.lane, job.project_id) >= MOST_FIRST
    return job if is_one_too_many else for_somebody(job)


def _require_retriable(build: Build, shard: Shard) -> None:
    if build.state not in {BuildState.FAILED, BuildState.CAPTURING}:
        raise NothingToRetryError(build.number, shard.number, f"the build is {build.state}")
    if ShardState.OPEN not in shard_store.NEXT_STATES[shard.state]:
        raise NothingToRetryError(build.number, shard.number, f"it is {shard.state}")
    if build.state is BuildState.CAPTURING and build.open_shards == 0:
        raise NothingToRetryError(build.number, shard.number, "the build is being finalised")


async def _with_one_more(tx: Tx, build: Build) -> Build:
    """Return the build with the shard that was opened again among those it waits for.

    While it is captured its generation stays: the jobs of its other shards count still.
    """
    if build.state is not BuildState.CAPTURING:
        return await _next_generation(tx, build)
    counted = await store.count_down(tx, build.id, build.generation, -1)
    assert counted is not None, "its row is locked"
    return counted


async def cancel_shard(
    db: Database, kinds: JobKinds, build: Build, number: int, actor: str
) -> None:
    """End an open shard without its missing results; it will count as failed.

    A waiting job ends at once, a running one as soon as its consumer hears of it.
    """
    async with db.transaction() as tx:
        shard = await shard_store.by_number(
            tx, (build.id, build.number), build.planned_generation, number
        )
    if shard.state is not ShardState.OPEN or shard.job_id is None:
        return
    async with db.transaction() as tx:
        jobs = await queue.cancel_jobs(tx, [shard.job_id])
        if not jobs and not await queue.is_live(tx, shard.job_id):
            return  # it ended a moment ago: nobody was asked
        await kinds.ended(tx, jobs, Outcome.CANCELLED, f"cancelled by {actor}")
        await audit.record(tx, _event(build, "shard.cancel", actor))


async def _next_generation(tx: Tx, build: Build) -> Build:
    to = build.generation + 1
    assert build.planned_generation is not None, "a build with shards was planned"
    # More than the one that was reopened, where a consumer has not yet let go of a cancelled one.
    open_shards = await shard_store.count_open(tx, build.id, build.planned_generation)
    capturing = await moving.move(
        tx,
        build,
        BuildState.CAPTURING,
        state_reason=None,
        generation=to,
        planned_generation=to,
        open_shards=open_shards,
        finalise_job_id=None,
    )
    await shard_store.carry_over(tx, build.id, build.planned_generation, to)
    await snapshots.carry_over(tx, build.id, build.planned_generation, to)
    return capturing


def _event(build: Build, action: str, actor: str) -> audit.Event:
    return audit.Event(actor, action, build.project_id, build.id)
