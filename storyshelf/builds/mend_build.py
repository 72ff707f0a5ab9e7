"""Mend a build that no job moves on, or that waits for more or fewer shards than are open.

Nothing of this should ever be: each step of a build writes its counter and its next job in one
transaction. Whoever mends tells an alarm, since the step that broke it is what has to be found.
"""

from dataclasses import dataclass

from storyshelf.builds import shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import FINALISE, PLAN, finalise_job, plan_job
from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, JobId
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob


@dataclass(frozen=True, slots=True)
class Mended:
    """What was wrong with a build, in words."""

    build: Build
    problem: str


async def mend(tx: Tx, build_id: BuildId) -> Mended | None:
    """Put right what is wrong; None: nothing is, now that the rows are locked.

    Raises BuildGoneError. Enqueues, and so nothing that others wait for comes after it.
    """
    await shard_store.lock_all(tx, build_id)  # shards come before builds in the lock order
    build = await store.lock(tx, build_id)
    match build.state:
        case BuildState.QUEUED | BuildState.PLANNING:
            return await _mend_plan(tx, build)
        case BuildState.CAPTURING:
            return await _mend_capture(tx, build)
        case _:
            return None


async def _mend_plan(tx: Tx, build: Build) -> Mended | None:
    if await _live_job(tx, build, PLAN) is not None:
        return None
    await store.set_plan_job(tx, build.id, await _job_id(tx, build, plan_job(build)))
    return Mended(build, f"it was {build.state} without a plan job")


async def _mend_capture(tx: Tx, build: Build) -> Mended | None:
    open_shards = await shard_store.count_open(tx, build.id, build.generation)
    live = await _live_job(tx, build, FINALISE)
    is_finalised = live is not None and live == build.finalise_job_id
    if build.open_shards == open_shards and (open_shards > 0 or is_finalised):
        return None
    problem = f"it waited for {build.open_shards} shards, of which {open_shards} were open"
    mended = await store.set_open_shards(tx, build, open_shards)
    if open_shards == 0:
        job_id = await _job_id(tx, build, finalise_job(build))
        await store.set_finalise_job(tx, mended, job_id)
    return Mended(build, problem)


async def _job_id(tx: Tx, build: Build, job: NewJob) -> JobId:
    """Return the job of that sort which the build has, else a new one."""
    live = await _live_job(tx, build, job.kind)
    if live is not None:
        return live
    (job_id,) = await queue.enqueue(tx, [job])
    assert job_id is not None, "the build's rows are locked, and nobody else enqueues it"
    return job_id


async def _live_job(tx: Tx, build: Build, kind: str) -> JobId | None:
    jobs = await queue.live_jobs(tx, build.id)
    same = [job.job_id for job in jobs if (job.kind, job.generation) == (kind, build.generation)]
    return same[0] if same else None
