"""Send an ended build back: captured again as a whole, or one shard of it."""

from storyshelf.audit import store as audit
from storyshelf.builds import shard_store, store
from storyshelf.builds.build import Build, BuildState, NeverSealedError, NothingToRetryError
from storyshelf.builds.jobs import capture_job, plan_job
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.snapshots import store as snapshots


async def capture_again(db: Database, build_id: BuildId, actor: str) -> Build:
    """Plan and capture a build anew; raises BuildMovedError, NeverSealedError.

    Its rows of before stay, and stay visible until the new plan is written.
    """
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        if build.sealed_at is None:
            raise NeverSealedError(build.number)
        queued = await store.move(
            tx,
            build,
            BuildState.QUEUED,
            state_reason=None,
            generation=build.generation + 1,
            open_shards=0,
            finalise_job_id=None,
        )
        (job_id,) = await queue.enqueue(tx, [plan_job(queued)])
        await store.set_plan_job(tx, queued.id, job_id)
        await audit.record(tx, _event(build, "build.capture_again", actor))
        return queued


async def retry_shard(db: Database, build_id: BuildId, number: int, actor: str) -> Build:
    """Capture what a failed build's shard left undone; its results so far are kept.

    Raises NothingToRetryError, NoSuchShardError.
    """
    async with db.transaction() as tx:
        await shard_store.lock_all(tx, build_id)  # shards come before builds in the lock order
        build = await store.lock(tx, build_id)
        shard = await shard_store.by_number(
            tx, (build.id, build.number), build.planned_generation, number
        )
        if build.state is not BuildState.FAILED:
            raise NothingToRetryError(build.number, number, f"the build is {build.state}")
        if ShardState.OPEN not in shard_store.NEXT_STATES[shard.state]:
            raise NothingToRetryError(build.number, number, f"it is {shard.state}")
        await shard_store.reopen(tx, shard.id)
        capturing = await _next_generation(tx, build)
        (job_id,) = await queue.enqueue(tx, [capture_job(capturing, shard.id)])
        assert job_id is not None, "a closed shard has no live job"
        await shard_store.set_jobs(tx, {shard.id: job_id})
        await audit.record(tx, _event(build, "shard.retry", actor))
        return capturing


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
        await kinds.ended(tx, jobs, Outcome.CANCELLED, f"cancelled by {actor}")
        await audit.record(tx, _event(build, "shard.cancel", actor))


async def _next_generation(tx: Tx, build: Build) -> Build:
    to = build.generation + 1
    assert build.planned_generation is not None, "a build with shards was planned"
    # More than the one that was reopened, where a consumer has not yet let go of a cancelled one.
    open_shards = await shard_store.count_open(tx, build.id, build.planned_generation)
    capturing = await store.move(
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
