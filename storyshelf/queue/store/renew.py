"""Keep a lease: renew it, look whether it still stands, renew it as part of a write."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import TextClause, text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue.job import Lease, LeaseLostError

# Only here and in the claim does a commit not wait for the flush, and the statement itself says
# so: a setting of the session could leak through the pool into a durable settle. Rows are locked
# in order of id, because a cancel or a settle may be locking the same ones.
RENEW = text("""
WITH mode AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS word),
held AS MATERIALIZED (
    SELECT j.id
    FROM jobs AS j
    JOIN unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS h(id, token)
        ON h.id = j.id AND h.token = j.lease_token
    WHERE j.state = 'running'
    ORDER BY j.id
    FOR UPDATE OF j
),
renewed AS (
    UPDATE jobs
    SET lease_expires_at = statement_timestamp() + make_interval(secs => :lease_s)
    WHERE id = ANY (ARRAY(SELECT id FROM held))
    RETURNING id, lease_token, cancel_requested_at IS NOT NULL AS cancel_requested,
        release_requested_at IS NOT NULL AS release_requested
)
SELECT r.id, r.lease_token, r.cancel_requested, r.release_requested
FROM mode CROSS JOIN renewed AS r
""")

CHECK = text("""
SELECT j.id, j.lease_token, j.cancel_requested_at IS NOT NULL AS cancel_requested,
    j.release_requested_at IS NOT NULL AS release_requested
FROM jobs AS j
JOIN unnest(CAST(:ids AS bigint[]), CAST(:tokens AS uuid[])) AS h(id, token)
    ON h.id = j.id AND h.token = j.lease_token
WHERE j.state = 'running'
""")

# Durable, and the first statement of its transaction: the row stays locked until the results that
# follow are committed, so that nobody can reclaim the job in between. `progress_at` is emptied by
# each claim, so the charge is taken back once an attempt.
RENEW_FOR_WRITE = text("""
UPDATE jobs
SET lease_expires_at = statement_timestamp() + make_interval(secs => :lease_s),
    charged = charged - CASE WHEN progress_at IS NULL THEN 1 ELSE 0 END,
    progress_at = statement_timestamp()
WHERE id = CAST(:id AS bigint) AND lease_token = CAST(:token AS uuid) AND state = 'running'
""")

# As durable and as locked, for a write that is no result: an attempt that only said that it began
# must count, or one that fails at once would be tried for ever.
RENEW_FOR_NOTE = text("""
UPDATE jobs
SET lease_expires_at = statement_timestamp() + make_interval(secs => :lease_s)
WHERE id = CAST(:id AS bigint) AND lease_token = CAST(:token AS uuid) AND state = 'running'
""")


@dataclass(frozen=True, slots=True)
class Standing:
    """A lease that still stands; one that is missing from an answer is lost."""

    job_id: JobId
    token: LeaseToken
    cancel_requested: bool
    release_requested: bool = False


async def renew(tx: Tx, leases: Sequence[Lease], lease_for: timedelta) -> tuple[Standing, ...]:
    """Give the leases their full length again; not durable. Those not returned are lost."""
    if not leases:
        return ()
    values = {**_keys(leases), "lease_s": lease_for.total_seconds()}
    found = await tx.execute(RENEW, values)
    return tuple(Standing(*row) for row in found)


async def check(tx: Tx, leases: Sequence[Lease]) -> tuple[Standing, ...]:
    """Look whether the leases stand, without renewing them. Those not returned are lost."""
    if not leases:
        return ()
    found = await tx.execute(CHECK, _keys(leases))
    return tuple(Standing(*row) for row in found)


async def renew_for_write(tx: Tx, lease: Lease, lease_for: timedelta) -> None:
    """Renew the lease as the first statement of a durable transaction that writes results.

    Raises LeaseLostError when it is no longer ours. The attempt's first call takes its charge
    back: an attempt that got somewhere does not count towards the limit.
    """
    await _renew_first(tx, RENEW_FOR_WRITE, lease, lease_for)


async def renew_for_note(tx: Tx, lease: Lease, lease_for: timedelta) -> None:
    """Renew the lease as `renew_for_write` does, for a write that is no result: it stays charged.

    Raises LeaseLostError when it is no longer ours.
    """
    await _renew_first(tx, RENEW_FOR_NOTE, lease, lease_for)


async def _renew_first(tx: Tx, statement: TextClause, lease: Lease, lease_for: timedelta) -> None:
    values = {"id": lease.job_id, "token": lease.token, "lease_s": lease_for.total_seconds()}
    done = await tx.execute(statement, values)
    if done.rowcount != 1:
        raise LeaseLostError(lease.job_id, lease.attempt)


def _keys(leases: Sequence[Lease]) -> dict[str, object]:
    return {
        "ids": [lease.job_id for lease in leases],
        "tokens": [lease.token for lease in leases],
    }
