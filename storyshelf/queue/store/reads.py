"""What pages and audits ask of the queue; nothing here locks or writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ConsumerId, JobId
from storyshelf.queue.job import JobState, Outcome

# Columns are named as the fields of LiveJob and Attempt are.
LIVE_JOBS = text("""
SELECT id AS job_id, kind, lane, generation, state, attempt, charged, max_attempts, consumer_id,
       cancel_requested_at, statement_timestamp() - enqueued_at AS age
FROM jobs WHERE build_id = CAST(:build_id AS bigint) ORDER BY id
""")

ATTEMPTS = text("""
SELECT job_id, attempt, consumer_id, outcome, error, started_at, ended_at
FROM job_attempts WHERE job_id = ANY (CAST(:ids AS bigint[])) ORDER BY job_id, attempt
""")

IS_LIVE = text("SELECT EXISTS (SELECT FROM jobs WHERE id = CAST(:id AS bigint))")


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A job that is not finished, as a page shows it."""

    job_id: JobId
    kind: str
    lane: str
    generation: int
    state: JobState
    attempt: int
    charged: int
    max_attempts: int
    consumer_id: ConsumerId | None
    cancel_requested_at: datetime | None
    age: timedelta  # by the database's clock


@dataclass(frozen=True, slots=True)
class Attempt:
    """One ended try at a job."""

    job_id: JobId
    attempt: int
    consumer_id: ConsumerId | None
    outcome: Outcome
    error: str | None
    started_at: datetime | None
    ended_at: datetime


async def live_jobs(tx: Tx, build_id: BuildId) -> tuple[LiveJob, ...]:
    """Return the build's unfinished jobs, oldest first."""
    found = await tx.execute(LIVE_JOBS, {"build_id": build_id})
    return tuple(LiveJob(**{**row, "state": JobState(row["state"])}) for row in found.mappings())


async def attempts_of(tx: Tx, job_ids: Sequence[JobId]) -> tuple[Attempt, ...]:
    """Return the ended attempts of the jobs, by job and attempt."""
    found = await tx.execute(ATTEMPTS, {"ids": list(job_ids)})
    return tuple(Attempt(**{**row, "outcome": Outcome(row["outcome"])}) for row in found.mappings())


async def is_live(tx: Tx, job_id: JobId) -> bool:
    """Say whether the job has not ended, wherever it stands."""
    found = await tx.execute(IS_LIVE, {"id": job_id})
    return bool(found.scalar_one())
