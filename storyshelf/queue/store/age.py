"""Maintenance that has waited for long goes among the ordinary jobs: no class waits for ever."""

from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId
from storyshelf.queue.job import Priority
from storyshelf.queue.store.hops import ready_lanes

# - Lanes are found by hopping through the ready index, and of each only the head of the class is
#   looked at: what stands behind comes to the head when that has gone.
# - The tag is the virtual time of the class that they come to, as for a job that is enqueued now.
# - Locked in order of id, and what somebody is claiming is left to him. What is asked again of the
#   locked row is written so that no index serves it: a planner that has no statistics would read
#   the whole class instead of the rows by their ids.
PROMOTE = text(f"""
WITH RECURSIVE {ready_lanes("lanes")},
old AS MATERIALIZED (
    SELECT h.id, v.tag
    FROM lanes AS l
    CROSS JOIN LATERAL (
        SELECT id, greatest(enqueued_at, run_at) AS ready_at
        FROM jobs
        WHERE state = 'queued' AND lane = l.lane AND priority = :low
        ORDER BY fair_tag, id LIMIT :limit
    ) AS h
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (
                SELECT j.fair_tag FROM jobs AS j
                WHERE j.state = 'queued' AND j.lane = l.lane AND j.priority = :high
                ORDER BY j.fair_tag LIMIT 1
            ),
            (
                SELECT max(t.last_tag) FROM lane_tags AS t
                WHERE t.lane = l.lane AND t.priority = :high
            ),
            1
        ) AS tag
    ) AS v
    WHERE l.lane IS NOT NULL
        AND h.ready_at <= statement_timestamp() - make_interval(secs => :waited_s)
),
held AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY (ARRAY(SELECT id FROM old)) AND state || '' = 'queued' AND priority + 0 = :low
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET priority = :high, fair_tag = o.tag
FROM old AS o
WHERE jobs.id = ANY (ARRAY(SELECT id FROM held)) AND o.id = jobs.id
RETURNING jobs.id
""")  # noqa: S608  # a constant


async def promote_old(tx: Tx, waited: timedelta, *, limit: int) -> tuple[JobId, ...]:
    """Raise maintenance that has been ready for that long by one class; so many of each lane."""
    values = {
        "low": int(Priority.MAINTENANCE),
        "high": int(Priority.DEFAULT),
        "waited_s": waited.total_seconds(),
        "limit": limit,
    }
    return tuple((await tx.execute(PROMOTE, values)).scalars())
