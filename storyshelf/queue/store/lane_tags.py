"""The tags of lanes that are gone: an environment that no consumer has any more leaves some."""

from sqlalchemy import text

from storyshelf.db.engine import Tx

# A lane starts afresh when it has no job, so nothing is lost if its environment comes back; and a
# consumer that begins to offer it has no floor there yet. Rows that somebody enqueues on are left
# to the next time. The lanes without an environment are few, and always the same.
FORGET_LANES = text("""
WITH gone AS MATERIALIZED (
    SELECT t.lane, t.priority, t.project_id
    FROM lane_tags AS t
    WHERE t.lane LIKE '%@%'
        AND NOT EXISTS (SELECT FROM consumers AS c WHERE t.lane = ANY (c.lanes))
        AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.lane = t.lane)
    ORDER BY t.lane, t.priority, t.project_id
    LIMIT :limit
    FOR UPDATE OF t SKIP LOCKED
)
DELETE FROM lane_tags AS t USING gone AS g
WHERE (t.lane, t.priority, t.project_id) = (g.lane, g.priority, g.project_id)
""")


async def forget_lanes(tx: Tx, *, limit: int) -> int:
    """Forget tags of lanes with an environment, without a job and a consumer; return how many."""
    return (await tx.execute(FORGET_LANES, {"limit": limit})).rowcount
