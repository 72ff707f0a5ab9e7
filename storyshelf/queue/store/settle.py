"""End attempts: each job leaves the queue, or goes back to it, in one fenced statement."""

from collections.abc import Mapping, Sequence

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId
from storyshelf.queue.job import (
    Completed,
    Ending,
    Failed,
    Lease,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.queue.store.rows import SettledJob, settled_of

# What forces its shape:
# - The rows are locked in order of id before any is moved: a batch of two consumers, a cancel and
#   a renewal may hold the same jobs. An (id, token) pair that is not found there was lost.
# - What really becomes of a job is decided on the locked row: a job that was asked to stop is not
#   given another round, and a retry beyond the limit is a failure, whoever asked for it.
# - The charge of an attempt that goes back unharmed is taken back here unless its first recorded
#   results already took it.
SETTLE = text("""
WITH said AS MATERIALIZED (
    SELECT * FROM unnest(
        CAST(:ids AS bigint[]), CAST(:tokens AS uuid[]), CAST(:outcomes AS text[]),
        CAST(:errors AS text[]), CAST(:delays_s AS float8[])
    ) AS s(id, token, outcome, error, delay_s)
),
held AS MATERIALIZED (
    SELECT
        j.id, j.kind, j.payload, j.project_id, j.build_id, j.generation,
        j.attempt, j.consumer_id, j.attempt_started_at, s.token, s.error, s.delay_s,
        CASE
            WHEN s.outcome NOT IN ('retried', 'released') THEN s.outcome
            WHEN j.cancel_requested_at IS NOT NULL THEN 'cancelled'
            WHEN s.outcome = 'retried' AND j.charged >= j.max_attempts THEN 'failed'
            ELSE s.outcome
        END AS outcome
    FROM jobs AS j
    JOIN said AS s ON s.id = j.id AND s.token = j.lease_token
    WHERE j.state = 'running'
    ORDER BY j.id
    FOR UPDATE OF j
),
gone AS (
    DELETE FROM jobs
    WHERE id = ANY (
        ARRAY(SELECT id FROM held WHERE outcome NOT IN ('retried', 'released'))
    )
    RETURNING *
),
kept AS (
    INSERT INTO jobs_done (
        id, kind, lane, generation, project_id, build_id, priority, state, outcome, error,
        attempt, charged, max_attempts, consumer_id, lease_token, last_token, dedupe_key, payload,
        enqueued_at, started_at, finished_at, wait_ms, run_ms
    )
    SELECT
        g.id, g.kind, g.lane, g.generation, g.project_id, g.build_id, g.priority,
        CASE h.outcome WHEN 'completed' THEN 'done' WHEN 'cancelled' THEN 'cancelled'
            ELSE 'failed' END,
        h.outcome, h.error,
        g.attempt, g.charged, g.max_attempts, g.consumer_id, g.lease_token, g.last_token,
        g.dedupe_key, g.payload, g.enqueued_at, g.started_at, statement_timestamp(),
        1000 * extract(epoch FROM g.started_at - g.enqueued_at),
        1000 * extract(epoch FROM statement_timestamp() - g.attempt_started_at)
    FROM gone AS g JOIN held AS h ON h.id = g.id
),
returned AS (
    UPDATE jobs AS j
    SET state = CASE h.outcome WHEN 'retried' THEN 'deferred' ELSE 'queued' END,
        run_at = statement_timestamp() + make_interval(secs => h.delay_s),
        charged = j.charged
            - CASE WHEN h.outcome = 'released' AND j.progress_at IS NULL THEN 1 ELSE 0 END,
        last_error = coalesce(h.error, j.last_error),
        last_token = j.lease_token,
        lease_token = NULL, lease_expires_at = NULL, consumer_id = NULL
    FROM held AS h
    WHERE h.id = j.id AND h.outcome IN ('retried', 'released')
),
noted AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, token, outcome, error, attempt_started_at,
        statement_timestamp()
    FROM held
)
SELECT id, kind, payload, project_id, build_id, generation, outcome, error FROM held ORDER BY id
""")

# Every settle writes the attempt's row with the token it used, whatever became of the job since.
SETTLED_BEFORE = text("""
SELECT a.job_id AS id, a.outcome
FROM job_attempts AS a
JOIN unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS s(id, token)
    ON s.id = a.job_id AND s.token = a.lease_token
WHERE a.outcome <> 'lost'
""")


async def settle(tx: Tx, endings: Sequence[tuple[Lease, Ending]]) -> tuple[SettledJob, ...]:
    """End the attempts; return what became of each, by id. Those not returned were lost.

    Must be first in its transaction and is durable. A job that was asked to stop is cancelled
    instead of going back to the queue. The caller runs `apply` for what is completed and `ended`
    for what has left the queue otherwise, in the same transaction.
    """
    said = [_said(ending) for _, ending in endings]
    values = {
        **_keys([lease for lease, _ in endings]),
        "outcomes": [outcome.value for outcome, _, _ in said],
        "errors": [error for _, error, _ in said],
        "delays_s": [delay_s for _, _, delay_s in said],
    }
    found = await tx.execute(SETTLE, values)
    settled = tuple(settled_of(row) for row in found)
    if any(each.outcome is Outcome.RELEASED for each in settled):
        tx.announce("work")
    return settled


async def settled_before(tx: Tx, leases: Sequence[Lease]) -> Mapping[JobId, Outcome]:
    """Return how those of the leases ended whose settle went through, though unanswered."""
    found = await tx.execute(SETTLED_BEFORE, _keys(leases))
    return {row.id: Outcome(row.outcome) for row in found}


def _said(ending: Ending) -> tuple[Outcome, str | None, float]:
    match ending:
        case Completed():
            return Outcome.COMPLETED, None, 0.0
        case Retried(after=after, error=error):
            return Outcome.RETRIED, error, after.total_seconds()
        case Requeued(reason=reason):
            return Outcome.RELEASED, reason, 0.0
        case Failed(error=error, outcome=outcome):
            return outcome, error, 0.0


def _keys(leases: Sequence[Lease]) -> dict[str, list[object]]:
    return {
        "ids": [lease.job_id for lease in leases],
        "tokens": [lease.token for lease in leases],
    }
