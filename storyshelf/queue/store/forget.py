"""Ended jobs and their attempts are forgotten after a while, a page of ids at a time."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId

# By id and not by when they ended: that is the primary key, of which a page is read from where the
# last one stopped, whether anything on it is old or not. Ids are given in the order of enqueuing,
# and nothing ends before it is enqueued: behind a job that is young nothing is old.
FORGET = text("""
WITH page AS MATERIALIZED (
    SELECT id, enqueued_at, finished_at FROM jobs_done
    WHERE id > :after ORDER BY id LIMIT :limit
),
bound AS MATERIALIZED (
    SELECT statement_timestamp() - make_interval(secs => :kept_s) AS at
),
held AS MATERIALIZED (
    SELECT id FROM jobs_done
    WHERE id = ANY (ARRAY(SELECT p.id FROM page AS p, bound AS b WHERE p.finished_at < b.at))
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),
attempts AS (
    DELETE FROM job_attempts WHERE job_id = ANY (ARRAY(SELECT id FROM held))
),
gone AS (
    DELETE FROM jobs_done WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING id
)
SELECT (SELECT count(*) FROM gone) AS jobs, (
    SELECT p.id FROM page AS p, bound AS b
    WHERE p.enqueued_at < b.at AND p.id = (SELECT max(id) FROM page)
) AS last
""")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many jobs of a page were forgotten, and where the next page begins, if one may be old."""

    jobs: int
    last: JobId | None


async def forget_ended(tx: Tx, kept: timedelta, *, after: int, limit: int) -> Forgotten:
    """Forget those of the next so many ended jobs that ended longer ago."""
    values = {"kept_s": kept.total_seconds(), "after": after, "limit": limit}
    row = (await tx.execute(FORGET, values)).one()
    return Forgotten(row.jobs, row.last)
