"""Lanes with waiting jobs that no live consumer offers, and the end of jobs that waited there."""

from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.queue.store.rows import SettledJob, settled_of

# The lanes of the ready index are found by hopping from one to the next: DISTINCT would read the
# whole backlog. Deferred jobs are few, and count too: without a consumer nobody makes them ready.
UNSERVED_LANES = text("""
WITH RECURSIVE ready AS (
    (SELECT lane FROM jobs WHERE state = 'queued' ORDER BY lane LIMIT 1)
    UNION ALL
    SELECT (
        SELECT j.lane FROM jobs AS j
        WHERE j.state = 'queued' AND j.lane > r.lane ORDER BY j.lane LIMIT 1
    )
    FROM ready AS r WHERE r.lane IS NOT NULL
),
waiting AS (
    SELECT lane FROM ready WHERE lane IS NOT NULL
    UNION
    SELECT lane FROM jobs WHERE state = 'deferred'
)
SELECT w.lane
FROM waiting AS w
WHERE NOT EXISTS (
    SELECT FROM consumers AS c
    WHERE w.lane = ANY (c.lanes) AND c.state = 'running'
        AND c.beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
)
ORDER BY w.lane
""")

END_LANE = text("""
WITH held AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE lane = :lane AND state IN ('queued', 'deferred')
        AND enqueued_at <= statement_timestamp() - make_interval(secs => :waited_s)
    ORDER BY id LIMIT :limit
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING *
),
kept AS (
    INSERT INTO jobs_done (
        id, kind, lane, generation, project_id, build_id, priority, state, outcome, error,
        attempt, charged, max_attempts, last_token, dedupe_key, payload, enqueued_at, started_at,
        finished_at
    )
    SELECT
        id, kind, lane, generation, project_id, build_id, priority, 'failed', 'unhandled',
        :error, attempt, charged, max_attempts, last_token, dedupe_key, payload, enqueued_at,
        started_at, statement_timestamp()
    FROM gone
)
SELECT id, kind, payload, project_id, build_id, generation, 'unhandled' AS outcome,
    CAST(:error AS text) AS error
FROM gone ORDER BY id
""")


async def unserved_lanes(tx: Tx, silent_for: timedelta) -> tuple[str, ...]:
    """Return the lanes where jobs wait and that nobody offers who has beaten within that time."""
    found = await tx.execute(UNSERVED_LANES, {"silent_s": silent_for.total_seconds()})
    return tuple(found.scalars())


async def end_waiting(
    tx: Tx, lane: str, waited: timedelta, *, limit: int
) -> tuple[SettledJob, ...]:
    """End jobs of the lane that have waited for that long, as unhandled.

    First in its transaction; the caller runs `ended` for each in the same one.
    """
    values = {
        "lane": lane,
        "waited_s": waited.total_seconds(),
        "limit": limit,
        "error": f"No consumer served the lane {lane} for {waited.total_seconds() / 60:g} minutes",
    }
    found = await tx.execute(END_LANE, values)
    return tuple(settled_of(row) for row in found)
