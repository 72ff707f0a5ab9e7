"""Everything that is known of one job, wherever it stands; nothing here locks or writes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ConsumerId, JobId, ProjectId
from storyshelf.queue.job import JobState, Outcome, Payload, Priority
from storyshelf.queue.store.rows import payload_of

# One statement, and so one snapshot: a job that is settled meanwhile is found once, not nowhere.
JOB = text("""
SELECT id AS job_id, kind, lane, priority, state, NULL AS outcome, project_id, build_id, generation,
    attempt, charged, max_attempts, consumer_id, last_error AS error, dedupe_key, enqueued_at,
    run_at, started_at, attempt_started_at, progress_at, lease_expires_at, cancel_requested_at,
    release_requested_at, NULL AS finished_at, request_id, payload
FROM jobs WHERE id = CAST(:id AS bigint)
UNION ALL
SELECT id, kind, lane, priority, state, outcome, project_id, build_id, generation,
    attempt, charged, max_attempts, consumer_id, error, dedupe_key, enqueued_at,
    NULL, started_at, NULL, NULL, NULL, NULL,
    NULL, finished_at, NULL, payload
FROM jobs_done WHERE id = CAST(:id AS bigint)
""")

ENDED = text("""
SELECT kind, state, build_id, payload FROM jobs_done WHERE id = CAST(:id AS bigint)
""")


@dataclass(frozen=True, slots=True)
class KnownJob:
    """A job as its own page shows it; `outcome` and `finished_at` are there once it has ended."""

    job_id: JobId
    kind: str
    lane: str
    priority: Priority
    state: JobState
    outcome: Outcome | None
    project_id: ProjectId | None
    build_id: BuildId | None
    generation: int
    attempt: int
    charged: int
    max_attempts: int
    consumer_id: ConsumerId | None
    error: str | None
    dedupe_key: str | None
    enqueued_at: datetime
    run_at: datetime | None
    started_at: datetime | None
    attempt_started_at: datetime | None
    progress_at: datetime | None
    lease_expires_at: datetime | None
    cancel_requested_at: datetime | None
    release_requested_at: datetime | None
    finished_at: datetime | None
    request_id: str | None
    payload: Payload


@dataclass(frozen=True, slots=True)
class EndedRow:
    """A job that has left the queue: how, and what it was for."""

    kind: str
    state: JobState
    build_id: BuildId | None
    payload: Payload


async def known_job(tx: Tx, job_id: JobId) -> KnownJob | None:
    """Return the job, whether it has ended or not; None: there is none, or it was forgotten."""
    row = (await tx.execute(JOB, {"id": job_id})).mappings().one_or_none()
    if row is None:
        return None
    outcome = None if row["outcome"] is None else Outcome(row["outcome"])
    return KnownJob(
        **{
            **row,
            "priority": Priority(row["priority"]),
            "state": JobState(row["state"]),
            "outcome": outcome,
            "payload": payload_of(row["payload"]),
        }
    )


async def ended_job(tx: Tx, job_id: JobId) -> EndedRow | None:
    """Return a job that has left the queue; None: there is none of that id."""
    row = (await tx.execute(ENDED, {"id": job_id})).one_or_none()
    if row is None:
        return None
    return EndedRow(row.kind, JobState(row.state), row.build_id, payload_of(row.payload))
