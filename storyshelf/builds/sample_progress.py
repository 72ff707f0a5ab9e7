"""Sample how builds move that are captured, and send out again what the queue has lost of them.

Everything is read from the database and written to it, so any process may do it, and two that do
it at the same moment do no harm: the leader does it every other second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from storyshelf.builds import progress_store, shard_store, store
from storyshelf.builds.build import BuildGoneError, BuildState
from storyshelf.builds.jobs import capture_job
from storyshelf.builds.progress_store import Counted, Due
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, JobId, ShardId
from storyshelf.queue import store as queue
from storyshelf.shards.eta import Eta, estimate, estimate_from_past
from storyshelf.shards.sampling import may_dispatch, next_sample

AT_ONCE = 50  # builds of one pass: the next comes in two seconds

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lost:
    """Shards of a build whose jobs are nowhere, and that may be sent out again."""

    build_id: BuildId
    generation: int
    shards: Sequence[ShardId]


async def sample_progress(db: Database) -> int:
    """Sample every build that is due; return how many shards were sent out again."""
    async with db.transaction() as tx:
        await progress_store.forget_ended(tx, AT_ONCE)
    async with db.transaction() as tx:
        due = await progress_store.due(tx, AT_ONCE)
        lost = await _sample(tx, due) if due else []
    return sum([await redispatch(db, one) for one in lost])


async def _sample(tx: Tx, due: Sequence[Due]) -> Sequence[Lost]:
    ids = [one.build_id for one in due]
    counted = await progress_store.count(tx, ids)
    times = await progress_store.completions(tx, ids)
    now = await progress_store.now(tx)
    lost = []
    for one in sorted(due, key=lambda each: each.build_id):  # builds are locked in this order
        found = counted.get(one.build_id)
        if found is None or found.generation != one.generation:
            continue  # it moved on between the two statements
        await _write(tx, one, found, _measured(found, times[one.build_id], now))
        if found.lost and may_dispatch(found.standing, one.before, one.dispatched_ago):
            lost.append(Lost(one.build_id, one.generation, found.lost))
    return lost


def _measured(found: Counted, times: Sequence[datetime], now: datetime) -> Eta | None:
    return estimate(times, found.standing.remaining, found.standing.running, now)


async def _write(tx: Tx, one: Due, found: Counted, measured: Eta | None) -> None:
    wait = next_sample(found.standing, measured, one.last_wait)
    eta = measured or await _from_past(tx, one.build_id, found)
    await progress_store.write(tx, one.build_id, found, eta, wait)


async def _from_past(tx: Tx, build_id: BuildId, found: Counted) -> Eta | None:
    if not (found.standing.running and found.standing.remaining):
        return None
    past = await progress_store.past_durations(tx, build_id)
    if past is None:
        return None
    return estimate_from_past(past, found.standing.remaining, found.standing.running)


async def redispatch(db: Database, lost: Lost) -> int:
    """Enqueue jobs for shards that have none, in the lock order; return how many."""
    try:
        async with db.transaction() as tx:
            sent = await _send_out(tx, lost)
    except BuildGoneError:
        return 0
    for shard_id in sent:
        log.warning("shard.dispatched_again", build=lost.build_id, shard=shard_id)
    return len(sent)


async def _send_out(tx: Tx, lost: Lost) -> Sequence[ShardId]:
    """Look again, under the locks of the shards and of the build, at what was read without."""
    shards = await shard_store.lock_open(tx, lost.shards)
    build = await store.lock(tx, lost.build_id)
    if build.state is not BuildState.CAPTURING or build.generation != lost.generation:
        return ()
    live = {job.job_id for job in await queue.live_jobs(tx, build.id)}
    without = [shard.id for shard in shards if shard.job_id not in live]
    if not without:
        return ()
    await progress_store.mark_dispatched(tx, build.id)
    job_ids = await queue.enqueue(tx, [capture_job(build, shard_id) for shard_id in without])
    return await _remember(tx, without, job_ids)


async def _remember(
    tx: Tx, shards: Sequence[ShardId], job_ids: Sequence[JobId | None]
) -> Sequence[ShardId]:
    """Write down the job of each; one whose key is live already has its own."""
    placed = {shard: job for shard, job in zip(shards, job_ids, strict=True) if job is not None}
    await shard_store.set_jobs(tx, placed)
    return list(placed)
