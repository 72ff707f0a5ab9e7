"""Whether what a job was for was asked again since it failed, and by which job it is done."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from storyshelf.builds import shard_store
from storyshelf.builds import store as builds
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import CAPTURE, FINALISE, PLAN, parse_capture
from storyshelf.db.engine import Tx
from storyshelf.deliveries import store as deliveries
from storyshelf.deliveries.kinds import DELIVER, parse_deliver
from storyshelf.ids import JobId
from storyshelf.queue import store as queue
from storyshelf.queue.job import JobState, MalformedPayloadError
from storyshelf.queue.store import Attempt, KnownJob
from storyshelf.traces import store as traces
from storyshelf.traces.kinds import TRACE, parse_trace


@dataclass(frozen=True, slots=True)
class Again:
    """It was asked again; the job that does it where that is known."""

    job_id: JobId | None


@dataclass(frozen=True, slots=True)
class KnownNow:
    """What is known of a job: itself, its ended attempts, and what came after it."""

    job: KnownJob
    ended: Sequence[Attempt]
    again: Again | None


async def known_now(tx: Tx, job: KnownJob) -> KnownNow:
    """Return all that is known of the job."""
    attempts = await queue.attempts_of(tx, [job.job_id])
    return KnownNow(job, attempts, await asked_again(tx, job))


async def asked_again(tx: Tx, job: KnownJob) -> Again | None:
    """Return what came after a failed or cancelled job; None: nothing did that is known of.

    It is read from the build, the shard, the delivery or the trace, so it does not matter who
    asked, or where. Of what tidies up nothing is known: the next one comes by itself.
    """
    read = READS.get(job.kind)
    if read is None or job.state not in {JobState.FAILED, JobState.CANCELLED}:
        return None
    try:
        return await read(tx, job)
    except MalformedPayloadError:
        return None  # nobody can tell what it was for


async def _of_build(tx: Tx, job: KnownJob) -> Again | None:
    found = None if job.build_id is None else await builds.planning_of(tx, job.build_id)
    if found is None or found.generation <= job.generation:
        return None
    if _is_later(found.job_id, job):
        return Again(found.job_id)
    return None if found.state is BuildState.CANCELLED else Again(None)  # a cancel counts on too


async def _of_shard(tx: Tx, job: KnownJob) -> Again | None:
    """Return the shard's newer job, or the plan of its build if all of it is captured again."""
    holder = await shard_store.job_of(tx, parse_capture(job.payload).shard_id)
    if _is_later(holder, job):
        return Again(holder)
    again = await _of_build(tx, job)
    return None if again is None or again.job_id is None else again


async def _of_delivery(tx: Tx, job: KnownJob) -> Again | None:
    payload = parse_deliver(job.payload)
    version = await deliveries.version_of(tx, payload.delivery_id)
    return Again(None) if version is not None and version > payload.version else None


async def _of_trace(tx: Tx, job: KnownJob) -> Again | None:
    other = await traces.job_of(tx, parse_trace(job.payload).snapshot_id)
    return Again(other) if _is_later(other, job) else None


def _is_later(other: JobId | None, job: KnownJob) -> bool:
    return other is not None and other > job.job_id


READS: Mapping[str, Callable[[Tx, KnownJob], Awaitable[Again | None]]] = {
    PLAN: _of_build,
    FINALISE: _of_build,
    CAPTURE: _of_shard,
    DELIVER: _of_delivery,
    TRACE: _of_trace,
}
