"""Leases that ran out: the job goes back to its lane, or ends if it had its last try."""

from collections.abc import Sequence

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId
from storyshelf.queue.store.cancel import CANCELLED_ON_REQUEST
from storyshelf.queue.store.claim import LEASE_RAN_OUT
from storyshelf.queue.store.kept import kept
from storyshelf.queue.store.rows import SettledJob, settled_of

GAVE_UP = "The last attempt allowed was lost: the consumer died, hung, or lost the database"

# Locked rows are skipped in both statements: whoever holds one is renewing, settling or taking it.
REQUEUE_EXPIRED = text("""
WITH held AS MATERIALIZED (
    SELECT id, attempt, consumer_id, lease_token, attempt_started_at
    FROM jobs
    WHERE state = 'running' AND lease_expires_at <= statement_timestamp()
        AND charged < max_attempts AND cancel_requested_at IS NULL
    ORDER BY id LIMIT :limit
    FOR UPDATE SKIP LOCKED
),
noted AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, lease_token, 'lost', :lost, attempt_started_at,
        statement_timestamp()
    FROM held
)
UPDATE jobs
SET state = 'queued', last_error = :lost, release_requested_at = NULL,
    lease_token = NULL, lease_expires_at = NULL, consumer_id = NULL
WHERE id = ANY (ARRAY(SELECT id FROM held))
RETURNING id
""")

OVERDUE = text("""
SELECT id FROM jobs
WHERE state = 'running' AND lease_expires_at <= statement_timestamp()
    AND (charged >= max_attempts OR cancel_requested_at IS NOT NULL)
ORDER BY id LIMIT :limit
""")

ALIKE = text("""
SELECT array_agg(id ORDER BY id) AS ids
FROM jobs
WHERE id = ANY (CAST(:ids AS bigint[]))
GROUP BY kind, cancel_requested_at IS NOT NULL
ORDER BY min(id)
""")

ENDED = {
    "state": "outcome",
    "outcome": "outcome",
    "error": "error",
    "consumer_id": "consumer_id",
    "last_token": "lease_token",
    "wait_ms": "1000 * extract(epoch FROM started_at - enqueued_at)",
    "run_ms": "1000 * extract(epoch FROM statement_timestamp() - attempt_started_at)",
}
END_OVERDUE = text(f"""
WITH held AS MATERIALIZED (
    SELECT id, cancel_requested_at IS NOT NULL AS cancelled
    FROM jobs
    WHERE id = ANY (CAST(:ids AS bigint[]))
        AND state = 'running' AND lease_expires_at <= statement_timestamp()
        AND (charged >= max_attempts OR cancel_requested_at IS NOT NULL)
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING *
),
ended AS (
    SELECT g.*,
        CASE WHEN h.cancelled THEN 'cancelled' ELSE 'failed' END AS outcome,
        CASE WHEN h.cancelled THEN :cancelled ELSE :gave_up END AS error
    FROM gone AS g JOIN held AS h ON h.id = g.id
),
kept AS (
    {kept("ended", ENDED)}
),
noted AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, lease_token,
        'lost', error, attempt_started_at, statement_timestamp()
    FROM ended
)
SELECT id, kind, payload, project_id, build_id, generation, outcome, error
FROM ended ORDER BY id
""")  # noqa: S608  # a constant


async def requeue_expired(tx: Tx, *, limit: int) -> tuple[JobId, ...]:
    """Put jobs whose lease ran out, with attempts left, back on their lanes."""
    found = await tx.execute(REQUEUE_EXPIRED, {"limit": limit, "lost": LEASE_RAN_OUT})
    ids = tuple(found.scalars())
    if ids:
        tx.announce("work")
    return ids


async def overdue_jobs(tx: Tx, *, limit: int) -> tuple[JobId, ...]:
    """Return jobs whose lease ran out and who get no other attempt; nothing is locked."""
    found = await tx.execute(OVERDUE, {"limit": limit})
    return tuple(found.scalars())


async def alike(tx: Tx, ids: Sequence[JobId]) -> tuple[tuple[JobId, ...], ...]:
    """Return the jobs by how they will end: those of one kind and outcome together."""
    found = await tx.execute(ALIKE, {"ids": list(ids)})
    return tuple(tuple(group) for group in found.scalars())


async def end_overdue(tx: Tx, ids: Sequence[JobId]) -> tuple[SettledJob, ...]:
    """Move those of the jobs that are still overdue out of the queue, failed or cancelled.

    First in its transaction; the caller runs `ended` for each in the same one.
    """
    values = {"ids": list(ids), "cancelled": CANCELLED_ON_REQUEST, "gave_up": GAVE_UP}
    found = await tx.execute(END_OVERDUE, values)
    return tuple(settled_of(row) for row in found)
