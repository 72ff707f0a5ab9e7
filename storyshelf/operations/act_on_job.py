"""Retry, cancel or release a job by hand: what has to happen to what it was for, by its kind.

A job that ended is never put back as it was. What it was for is done again by the use case that
would do it anyway, which audits it: a new plan of the build, the shard, the delivery.
"""

from collections.abc import Awaitable, Callable, Mapping

from storyshelf.audit import store as audit
from storyshelf.builds import shard_store
from storyshelf.builds import store as builds
from storyshelf.builds.capture_again import capture_again, retry_shard
from storyshelf.builds.jobs import CAPTURE, FINALISE, PLAN
from storyshelf.db.engine import Database
from storyshelf.deliveries import store as deliveries
from storyshelf.deliveries.kinds import DELIVER, deliver_job, parse_deliver
from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.ids import DeliveryId, JobId
from storyshelf.operations.tidy_job import TIDY, tidy_job
from storyshelf.queue import store as queue
from storyshelf.queue.job import JobState, MalformedPayloadError, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import EndedRow
from storyshelf.traces import store as traces
from storyshelf.traces.kinds import TRACE, parse_trace
from storyshelf.traces.record import record_trace


class NoSuchJobError(NotFoundError):
    """No job of that number."""

    def __init__(self, job_id: JobId) -> None:
        super().__init__(
            "There is no such job",
            where=f"job {job_id}",
            next_step="The operations page lists the jobs that are there.",
        )


class NotToBeRetriedError(ConflictError):
    """A job that did not fail, or whose purpose is gone."""

    def __init__(self, job_id: JobId, problem: str) -> None:
        super().__init__(
            f"The job cannot be retried: {problem}",
            where=f"job {job_id}",
            next_step="Look at what it was for; the operations page links it.",
        )


class NotToBeCancelledError(ConflictError):
    """A job that has ended."""

    def __init__(self, job_id: JobId) -> None:
        super().__init__(
            "The job has ended already",
            where=f"job {job_id}",
            next_step="Reload the operations page.",
        )


class NotToBeReleasedError(ConflictError):
    """A job that nobody works on."""

    def __init__(self, job_id: JobId, problem: str) -> None:
        super().__init__(
            f"The job cannot be given back: {problem}",
            where=f"job {job_id}",
            next_step="Only a job that runs can be; reload its page to see where it stands.",
        )


async def retry_job(db: Database, job_id: JobId, actor: str) -> JobId | None:
    """Do again what a failed or cancelled job was for; return the job that does, if it is new.

    Raises NoSuchJobError, NotToBeRetriedError, and what the use case of its kind does.
    """
    async with db.transaction() as tx:
        ended = await queue.ended_job(tx, job_id)
        if ended is None:
            if await queue.is_live(tx, job_id):
                raise NotToBeRetriedError(job_id, "it waits or runs")
            raise NoSuchJobError(job_id)
    if ended.state is JobState.DONE:
        raise NotToBeRetriedError(job_id, "it was done")
    retry = RETRIES.get(ended.kind)
    if retry is None:
        raise NotToBeRetriedError(job_id, f"nothing is known of jobs that {ended.kind}")
    return await retry(db, job_id, ended, actor)


async def cancel_job(db: Database, kinds: JobKinds, job_id: JobId, actor: str) -> None:
    """End a job that waits, or ask the consumer that runs it to stop.

    Raises NoSuchJobError, NotToBeCancelledError.
    """
    async with db.transaction() as tx:
        jobs = await queue.cancel_jobs(tx, [job_id])
        if not jobs and not await queue.is_live(tx, job_id):  # it was not asked either
            known = await queue.ended_job(tx, job_id)
            raise NoSuchJobError(job_id) if known is None else NotToBeCancelledError(job_id)
        await kinds.ended(tx, jobs, Outcome.CANCELLED, f"cancelled by {actor}")
        await audit.record(tx, audit.Event(actor, "job.cancel", detail={"job": job_id}))


async def release_job(db: Database, job_id: JobId, actor: str) -> None:
    """Have the consumer that runs a job put it back; the attempt is not charged.

    Raises NoSuchJobError, NotToBeReleasedError.
    """
    async with db.transaction() as tx:
        if await queue.request_release(tx, [job_id]):
            await audit.record(tx, audit.Event(actor, "job.release", detail={"job": job_id}))
            return
        known = await queue.known_job(tx, job_id)
    if known is None:
        raise NoSuchJobError(job_id)
    has_ended = known.finished_at is not None
    raise NotToBeReleasedError(job_id, "it has ended" if has_ended else "nobody runs it")


async def _retry_build(db: Database, job_id: JobId, ended: EndedRow, actor: str) -> JobId | None:
    if ended.build_id is None:
        raise NotToBeRetriedError(job_id, "it was for no build")
    await capture_again(db, ended.build_id, actor)
    async with db.transaction() as tx:
        planning = await builds.planning_of(tx, ended.build_id)
    return None if planning is None else planning.job_id


async def _retry_shard(db: Database, job_id: JobId, _ended: EndedRow, actor: str) -> JobId | None:
    async with db.transaction() as tx:
        found = await shard_store.of_jobs(tx, [job_id])
        if not found:
            raise NotToBeRetriedError(job_id, "another job has its shard, or the build is gone")
        shard = await shard_store.by_id(tx, found[0])
    await retry_shard(db, shard.build_id, shard.number, actor)
    async with db.transaction() as tx:
        return await shard_store.job_of(tx, shard.id)


async def _retry_delivery(db: Database, job_id: JobId, ended: EndedRow, actor: str) -> JobId | None:
    delivery_id = _delivery_of(job_id, ended)
    async with db.transaction() as tx:
        subject = await deliveries.lock_subject(tx, delivery_id)
        if subject is None:
            raise NotToBeRetriedError(job_id, "what it was to tell is gone")
        connection = subject.connection
        detail = {"connection": connection.id, "delivery": delivery_id}
        event = audit.Event(actor, "connection.resend", connection.project_id, detail=detail)
        await audit.record(tx, event)
        raised = await deliveries.raise_again(tx, connection.id, only=delivery_id)
        jobs = await queue.enqueue(tx, [deliver_job(each) for each in raised])
        return next(iter(jobs), None)


def _delivery_of(job_id: JobId, ended: EndedRow) -> DeliveryId:
    try:
        return parse_deliver(ended.payload).delivery_id
    except MalformedPayloadError as error:
        raise NotToBeRetriedError(job_id, "nobody can tell what it was to tell") from error


async def _tidy_again(db: Database, job_id: JobId, _ended: EndedRow, actor: str) -> JobId | None:
    async with db.transaction() as tx:
        (again,) = await queue.enqueue(tx, [tidy_job()])
        if again is not None:  # else one waits or runs already, and nothing was asked
            await audit.record(tx, audit.Event(actor, "job.retry", detail={"job": job_id}))
        return again


async def _trace_again(db: Database, job_id: JobId, ended: EndedRow, actor: str) -> JobId | None:
    try:
        snapshot_id = parse_trace(ended.payload).snapshot_id
    except MalformedPayloadError as error:
        raise NotToBeRetriedError(job_id, "nobody can tell what it was to record") from error
    async with db.transaction() as tx:
        subject = await traces.subject(tx, snapshot_id)
        if subject is None:
            raise NotToBeRetriedError(job_id, "its build is gone")
        build = await builds.by_id(tx, subject.build_id)
    return await record_trace(db, build, snapshot_id, actor)


Retry = Callable[[Database, JobId, EndedRow, str], Awaitable[JobId | None]]
RETRIES: Mapping[str, Retry] = {
    PLAN: _retry_build,
    FINALISE: _retry_build,
    CAPTURE: _retry_shard,
    DELIVER: _retry_delivery,
    TIDY: _tidy_again,
    TRACE: _trace_again,
}
