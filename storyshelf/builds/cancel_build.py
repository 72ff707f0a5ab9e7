"""Cancel a build: its own end first, then, in their own lock order, its jobs and shards."""

from dataclasses import dataclass

from storyshelf.audit import store as audit
from storyshelf.builds import moving, store, watch_store
from storyshelf.builds.build import Build, BuildMovedError, BuildState
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds

SWEEP_LIMIT = 200  # of one pass; what it has asked to stop is not found by the next
CANCELLED = "the build was cancelled"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Who wants the build cancelled, and why."""

    actor: str
    reason: str


async def cancel_build(db: Database, kinds: JobKinds, build_id: BuildId, why: Cancel) -> Build:
    """Cancel a build that has not ended, and everything that is still done for it.

    Raises BuildMovedError when it has ended already, other than by being cancelled.
    """
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        if build.state is BuildState.CANCELLED:
            return build
        if build.has_ended:
            raise BuildMovedError(build, BuildState.CANCELLED)
        cancelled = await moving.move(
            tx,
            build,
            BuildState.CANCELLED,
            state_reason=why.reason,
            generation=build.generation + 1,  # what is still running counts nothing from here on
            open_shards=0,
            finalise_job_id=None,
        )
        event = audit.Event(
            why.actor, "build.cancel", build.project_id, build.id, {"reason": why.reason}
        )
        await audit.record(tx, event)
    await cancel_left_behind(db, kinds, cancelled)
    return cancelled


async def cancel_older(db: Database, kinds: JobKinds, build: Build) -> None:
    """Cancel the branch's unfinished builds before this one."""
    async with db.transaction() as tx:
        older = await store.older_unended(tx, build)
    why = Cancel("rule: newer build", f"build {build.number} of the branch took its place")
    for one in older:
        try:
            await cancel_build(db, kinds, one.id, why)
        except BuildMovedError:
            continue  # it ended by itself in between


async def sweep_cancelled(db: Database, kinds: JobKinds) -> None:
    """Cancel what a crash left of builds that moved on: the second step, repeated."""
    async with db.transaction() as tx:
        builds = await watch_store.left_running(tx, SWEEP_LIMIT)
    for build in builds:
        await cancel_left_behind(db, kinds, build)


async def cancel_left_behind(db: Database, kinds: JobKinds, build: Build) -> None:
    """Cancel the jobs of a build's generations before this one, with their shards."""
    async with db.transaction() as tx:
        jobs = await queue.cancel_build_jobs(tx, build.id, older_than_generation=build.generation)
        await kinds.ended(tx, jobs, Outcome.CANCELLED, CANCELLED)
