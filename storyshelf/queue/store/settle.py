"""End attempts: each job leaves the queue, or goes back to it, in one fenced statement."""

from collections.abc import Mapping, Sequence

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.db.line import Fetches
from storyshelf.ids import JobId
from storyshelf.queue.job import (
    Completed,
    Crashed,
    EndedJob,
    Ending,
    Failed,
    Lease,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.queue.store.kept import kept
from storyshelf.queue.store.rows import SettledJob, settled_here

# What forces its shape:
# - The rows are locked in order of id before any is moved: a batch of two consumers, a cancel and
#   a renewal may hold the same jobs. An (id, token) pair that is not found there was lost.
# - What really becomes of a job is decided on the locked row: a job that was asked to stop is not
#   given another round, and a retry beyond the limit is a failure, whoever asked for it.
# - The charge of an attempt that goes back unharmed is taken back here unless its first recorded
#   results already took it.
LEFT = {
    **{name: name for name in ("consumer_id", "lease_token", "last_token")},
    "wait_ms": "1000 * extract(epoch FROM started_at - enqueued_at)",
    "run_ms": "1000 * extract(epoch FROM statement_timestamp() - attempt_started_at)",
}
ENDED = {
    **LEFT,
    "state": """CASE outcome WHEN 'completed' THEN 'done' WHEN 'cancelled' THEN 'cancelled'
        ELSE 'failed' END""",
    "outcome": "outcome",
    "error": "error",
}
COMPLETED = {**LEFT, "state": "'done'", "outcome": "'completed'"}

SETTLE = text(f"""
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
            WHEN s.delay_s IS NULL THEN s.outcome
            WHEN j.cancel_requested_at IS NOT NULL THEN 'cancelled'
            WHEN s.outcome = 'retried' AND j.charged >= j.max_attempts THEN 'failed'
            ELSE s.outcome
        END AS outcome,
        CASE
            WHEN s.delay_s IS NULL OR j.cancel_requested_at IS NOT NULL THEN NULL
            WHEN s.outcome = 'released' THEN 'queued'
            WHEN j.charged < j.max_attempts THEN 'deferred'
        END AS back_to
    FROM jobs AS j
    JOIN said AS s ON s.id = j.id AND s.token = j.lease_token
    WHERE j.state = 'running'
    ORDER BY j.id
    FOR UPDATE OF j
),
gone AS (
    DELETE FROM jobs
    WHERE id = ANY (ARRAY(SELECT id FROM held WHERE back_to IS NULL))
    RETURNING *
),
left_for_good AS (
    SELECT g.*, h.outcome, h.error FROM gone AS g JOIN held AS h ON h.id = g.id
),
kept AS (
    {kept("left_for_good", ENDED)}
),
returned AS (
    UPDATE jobs AS j
    SET state = h.back_to,
        run_at = statement_timestamp() + make_interval(secs => h.delay_s),
        charged = j.charged
            - CASE WHEN h.outcome = 'released' AND j.progress_at IS NULL THEN 1 ELSE 0 END,
        last_error = coalesce(h.error, j.last_error),
        last_token = j.lease_token,
        lease_token = NULL, lease_expires_at = NULL, consumer_id = NULL,
        release_requested_at = NULL
    FROM held AS h
    WHERE h.id = j.id AND h.back_to IS NOT NULL
),
noted AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, token, outcome, error, attempt_started_at,
        statement_timestamp()
    FROM held
)
SELECT
    id, kind, payload, project_id, build_id, generation, outcome, error,
    back_to IS NOT NULL AS goes_back
FROM held ORDER BY id
""")  # noqa: S608  # put together from the constants above

# Where all have completed, as nearly all do: no decision is left to be made on the locked rows.
SETTLE_COMPLETED = text(f"""
WITH held AS MATERIALIZED (
    SELECT j.id
    FROM unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS s(id, token)
    JOIN jobs AS j ON j.id = s.id AND j.lease_token = s.token
    WHERE j.state = 'running'
    ORDER BY j.id
    FOR UPDATE OF j
),
gone AS (
    DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING *
),
kept AS (
    {kept("gone", COMPLETED)}
),
noted AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, lease_token, 'completed', attempt_started_at,
        statement_timestamp()
    FROM gone
)
SELECT id FROM held ORDER BY id
""")  # noqa: S608  # put together from the constants above

# Every settle writes the attempt's row with the token it used, whatever became of the job since.
SETTLED_BEFORE = text("""
SELECT a.job_id AS id, a.outcome
FROM job_attempts AS a
JOIN unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS s(id, token)
    ON s.id = a.job_id AND s.token = a.lease_token
WHERE a.outcome <> 'lost'
""")


async def settle(tx: Fetches, endings: Sequence[tuple[Lease, Ending]]) -> tuple[SettledJob, ...]:
    """End the attempts; return what became of each, by id. Those not returned were lost.

    Must be first in its transaction and is durable. A job that was asked to stop is cancelled
    instead of going back to the queue. The caller runs `apply` for what is completed and `ended`
    for what has left the queue otherwise, in the same transaction.
    """
    if all(isinstance(ending, Completed) for _, ending in endings):
        return await _settle_completed(tx, [lease for lease, _ in endings])
    said = [_said(ending) for _, ending in endings]
    values = {
        **_keys([lease for lease, _ in endings]),
        "outcomes": [outcome.value for outcome, _, _ in said],
        "errors": [error for _, error, _ in said],
        "delays_s": [delay_s for _, _, delay_s in said],
    }
    found = await tx.fetch(SETTLE, values)
    settled = tuple(settled_here(row) for row in found)
    if any(each.outcome is Outcome.RELEASED for each in settled):
        tx.announce("work")
    return settled


async def _settle_completed(tx: Fetches, leases: Sequence[Lease]) -> tuple[SettledJob, ...]:
    found = await tx.fetch(SETTLE_COMPLETED, _keys(leases))
    by_id = {lease.job_id: lease for lease in leases}
    return tuple(SettledJob(_ended(by_id[row.id]), Outcome.COMPLETED, "") for row in found)


def _ended(lease: Lease) -> EndedJob:
    return EndedJob(
        job_id=lease.job_id,
        kind=lease.kind,
        payload=lease.payload,
        project_id=lease.project_id,
        build_id=lease.build_id,
        generation=lease.generation,
    )


async def settled_before(tx: Tx, leases: Sequence[Lease]) -> Mapping[JobId, Outcome]:
    """Return how those of the leases ended whose settle went through, though unanswered."""
    found = await tx.execute(SETTLED_BEFORE, _keys(leases))
    return {row.id: Outcome(row.outcome) for row in found}


def _said(ending: Ending) -> tuple[Outcome, str | None, float | None]:
    """Return the outcome, its reason, and the wait before another try, None for none at all."""
    match ending:
        case Completed():
            return Outcome.COMPLETED, None, None
        case Retried(after=after, error=error):
            return Outcome.RETRIED, error, after.total_seconds()
        case Requeued(reason=reason):
            return Outcome.RELEASED, reason, 0.0
        case Failed(error=error, outcome=outcome):
            return outcome, error, None
        case Crashed(after=after, error=error):
            return Outcome.CRASHED, error, after.total_seconds()


def _keys(leases: Sequence[Lease]) -> dict[str, list[object]]:
    return {
        "ids": [lease.job_id for lease in leases],
        "tokens": [lease.token for lease in leases],
    }
