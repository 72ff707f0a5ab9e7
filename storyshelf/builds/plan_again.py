"""Plan a build again whose environment is gone, for one that is there: it is captured in one."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from storyshelf.audit import store as audit
from storyshelf.builds import moving, store, watch_store
from storyshelf.builds.build import Build, BuildGoneError, BuildState
from storyshelf.builds.cancel_build import cancel_left_behind
from storyshelf.builds.environment_store import in_words
from storyshelf.builds.jobs import plan_job
from storyshelf.builds.serving import MAX_REPLANS, environment_of, environments_there
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import EnvironmentId
from storyshelf.queue import store as queue
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import ConsumerState
from storyshelf.queue.unserved import SILENT_FOR

AT_ONCE = 50  # builds of one lane and pass
ACTOR = "rule: environment gone"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Moving:
    """Which environment is gone, which are there, and that in words."""

    gone: EnvironmentId
    there: Sequence[EnvironmentId]
    reason: str


async def plan_elsewhere(db: Database, kinds: JobKinds, lane: str) -> tuple[Build, ...]:
    """Plan the builds again that wait on a capture lane, if they can be captured elsewhere.

    For a lane that has been unserved for a while; any other is left alone. A build is planned
    again so a few times and then waits, or consumers that come and go would keep it from ending.
    """
    gone = environment_of(lane)
    if gone is None:
        return ()
    async with db.transaction() as tx:
        there = await environments_there(tx)
        if not there or gone in there or await _rests(tx, gone):
            return ()
        waiting = await watch_store.waiting_in(tx, gone, MAX_REPLANS, AT_ONCE)
        why = Moving(gone, there, await _in_words(tx, gone, there))
    moved = [await plan_again(db, kinds, build, why) for build in waiting]
    return tuple(build for build in moved if build is not None)


async def _rests(tx: Tx, environment: EnvironmentId) -> bool:
    """Tell whether a consumer of it was made quiet: what it still runs would be lost."""
    live = await queue.live_consumers(tx, SILENT_FOR)
    return any(
        one.consumer.environment_id == environment and one.state is ConsumerState.QUIET
        for one in live
    )


async def plan_again(db: Database, kinds: JobKinds, build: Build, why: Moving) -> Build | None:
    """Send a build back to be planned; None: it has moved on since it was read.

    In two transactions, as a cancel: its own step first, then its jobs and shards of before in
    their lock order, which the expiry pass repeats.
    """
    try:
        async with db.transaction() as tx:
            queued = await _send_back(tx, build, why)
    except BuildGoneError:
        return None
    if queued is None:
        return None
    await cancel_left_behind(db, kinds, queued)
    log.warning("build.planned_again", build=build.id, environment=why.gone, there=why.there)
    return queued


async def _send_back(tx: Tx, seen: Build, why: Moving) -> Build | None:
    build = await store.lock(tx, seen.id)
    is_as_it_was = build.generation == seen.generation and build.open_shards > 0
    if build.state is not BuildState.CAPTURING or not is_as_it_was:
        return None
    queued = await moving.move(
        tx,
        build,
        BuildState.QUEUED,
        state_reason=None,
        generation=build.generation + 1,  # what still runs of it counts nothing from here on
        open_shards=0,
        finalise_job_id=None,
        replans=build.replans + 1,
        replan_reason=why.reason,
    )
    detail = {"gone": why.gone, "there": list(why.there), "reason": why.reason}
    event = audit.Event(ACTOR, "build.plan_again", build.project_id, build.id, detail)
    await audit.record(tx, event)
    (job_id,) = await queue.enqueue(tx, [plan_job(queued)])
    await store.set_plan_job(tx, queued.id, job_id)
    return queued


async def _in_words(tx: Tx, gone: EnvironmentId, there: Sequence[EnvironmentId]) -> str:
    others = " and ".join([await in_words(tx, each) for each in there])
    return f"no consumer has {await in_words(tx, gone)} any more, there is {others}"
