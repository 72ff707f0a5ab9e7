"""Take ready jobs for the free slots of each lane."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ConsumerId
from storyshelf.queue.job import Claimed
from storyshelf.queue.store.rows import lease_of

# What forces its shape:
# - `synchronous_commit` is said in the statement, so that a pooled connection cannot carry it into
#   a durable settle. A claim lost in a crash is a job that is simply queued again.
# - One LATERAL for each lane, so that each lane is one range of the ready index, whatever stands
#   on another. A LIMIT that comes from a row makes the planner guess a tenth of the table, hence
#   `= ANY (ARRAY(...))` below: a join on the guess would read all of `jobs`.
# - The ready scan is told how many expired jobs its lane has already got, so that it locks no row
#   that it will not take: a lease starts when the work starts.
# - What this statement promotes it cannot claim, since all its parts read one snapshot. It says
#   how many there were, and the caller asks again at once.
# - A job of a cancelled or worn-out attempt is never taken, only reported as overdue: ending it
#   is a matter of its kind, see expire.py.
CLAIM = text("""
WITH mode AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS word),
batch AS MATERIALIZED (SELECT gen_random_uuid() AS token),
offered AS MATERIALIZED (
    SELECT o.lane, o.free
    FROM unnest(CAST(:lanes AS text[]), CAST(:free AS int[])) AS o(lane, free)
    WHERE o.free > 0
),
due AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE state = 'deferred' AND run_at <= statement_timestamp()
    ORDER BY run_at LIMIT 100
    FOR UPDATE SKIP LOCKED
),
promoted AS (
    UPDATE jobs SET state = 'queued' WHERE id = ANY (ARRAY(SELECT id FROM due))
    RETURNING id
),
expired AS MATERIALIZED (
    SELECT o.lane, e.*
    FROM offered AS o
    CROSS JOIN LATERAL (
        SELECT id, attempt, consumer_id, lease_token, attempt_started_at
        FROM jobs
        WHERE state = 'running' AND lane = o.lane
            AND lease_expires_at <= statement_timestamp()
            AND charged < max_attempts AND cancel_requested_at IS NULL
        ORDER BY lease_expires_at, id LIMIT o.free
        FOR UPDATE SKIP LOCKED
    ) AS e
),
ready AS MATERIALIZED (
    SELECT r.id
    FROM offered AS o
    CROSS JOIN LATERAL (
        SELECT id
        FROM jobs
        WHERE state = 'queued' AND lane = o.lane
        ORDER BY priority DESC, fair_tag, id
        LIMIT o.free - (SELECT count(*) FROM expired AS e WHERE e.lane = o.lane)
        FOR UPDATE SKIP LOCKED
    ) AS r
),
lost AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, lease_token, 'lost', :lost, attempt_started_at,
        statement_timestamp()
    FROM expired
),
taken AS (
    UPDATE jobs
    SET state = 'running',
        attempt = attempt + 1,
        charged = charged + 1,
        lease_token = batch.token,
        lease_expires_at = statement_timestamp() + make_interval(secs => :lease_s),
        consumer_id = :consumer_id,
        started_at = coalesce(started_at, statement_timestamp()),
        attempt_started_at = statement_timestamp(),
        progress_at = NULL
    FROM batch
    WHERE id = ANY (ARRAY(SELECT id FROM expired UNION ALL SELECT id FROM ready))
    RETURNING id, lease_token, kind, lane, payload, project_id, build_id, generation, attempt,
        charged, max_attempts
),
rest AS (
    SELECT
        (SELECT count(*) FROM promoted) AS promoted,
        (
            SELECT extract(epoch FROM min(run_at) - statement_timestamp())
            FROM jobs
            WHERE state = 'deferred' AND run_at > statement_timestamp()
        ) AS next_due_s,
        EXISTS (
            SELECT FROM jobs
            WHERE state = 'running' AND lease_expires_at <= statement_timestamp()
                AND (charged >= max_attempts OR cancel_requested_at IS NOT NULL)
        ) AS overdue
)
SELECT taken.*, rest.promoted, rest.next_due_s, rest.overdue
FROM mode CROSS JOIN rest LEFT JOIN taken ON true
""")

LEASE_RAN_OUT = "The lease ran out: the consumer died, hung, or lost the database"


async def claim(
    tx: Tx, consumer_id: ConsumerId, free: Mapping[str, int], lease_for: timedelta
) -> Claimed:
    """Take up to the free number of jobs of each lane: expired ones first, then ready ones.

    Not durable, and alone in its transaction. All jobs of one claim share a token.
    """
    values = {
        "lanes": list(free),
        "free": list(free.values()),
        "consumer_id": consumer_id,
        "lease_s": lease_for.total_seconds(),
        "lost": LEASE_RAN_OUT,
    }
    rows = (await tx.execute(CLAIM, values)).all()
    rest = rows[0]
    return Claimed(
        leases=tuple(lease_of(row) for row in rows if row.id is not None),
        next_due_s=_next_due_s(rest.promoted, rest.next_due_s),
        overdue=rest.overdue,
    )


def _next_due_s(promoted: int, next_due_s: float | None) -> float | None:
    if promoted:
        return 0.0
    return None if next_due_s is None else float(next_due_s)
