"""Ask for a trace: a job of its own, and the wish that it is to fulfil, in one transaction."""

from storyshelf.audit import store as audit
from storyshelf.builds.build import Build
from storyshelf.builds.jobs import for_somebody
from storyshelf.builds.serving import environments_there
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import EnvironmentId, JobId, SnapshotId
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob
from storyshelf.queue.store.waited_for import waited_for
from storyshelf.traces import store
from storyshelf.traces.kinds import trace_job
from storyshelf.traces.trace import (
    WITHOUT_STORY,
    NoSuchTraceError,
    NothingToTraceError,
    Subject,
)

MOST_FIRST = 4  # of a project on a lane: whoever asks for many must not keep others from their turn


async def record_trace(
    db: Database, build: Build, snapshot_id: SnapshotId, actor: str
) -> JobId | None:
    """Have a snapshot's story recorded; None: it is being recorded already.

    Raises NoSuchTraceError for a snapshot of another build, NothingToTraceError.
    """
    async with db.transaction() as tx:
        subject = await store.subject(tx, snapshot_id)
        if subject is None or subject.build_id != build.id:
            raise NoSuchTraceError(snapshot_id)
        if subject.verdict in WITHOUT_STORY or build.environment_id is None:
            raise NothingToTraceError(snapshot_id, subject.verdict)
        job = trace_job(build.project_id, snapshot_id, await _where(tx, build.environment_id))
        (job_id,) = await queue.enqueue(tx, [await _in_its_class(tx, job)])
        if job_id is not None:
            await _note(tx, subject, job_id, actor)
        return job_id


async def _where(tx: Tx, wanted: EnvironmentId) -> EnvironmentId:
    """Return the environment that the build was captured in, or one that is there instead."""
    there = await environments_there(tx)
    return wanted if wanted in there or not there else there[0]


async def _in_its_class(tx: Tx, job: NewJob) -> NewJob:
    assert job.project_id is not None, "a trace is of a project"
    is_one_too_many = await waited_for(tx, job.lane, job.project_id) >= MOST_FIRST
    return job if is_one_too_many else for_somebody(job)


async def _note(tx: Tx, subject: Subject, job_id: JobId, actor: str) -> None:
    await store.wish(tx, subject.snapshot_id, job_id, actor)
    detail = {"snapshot": subject.snapshot_id, "story": subject.story_id}
    event = audit.Event(actor, "trace.record", subject.project_id, subject.build_id, detail)
    await audit.record(tx, event)
