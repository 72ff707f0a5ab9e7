"""Ask the consumers of running jobs to give them back, unharmed and uncharged."""

from collections.abc import Sequence

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId

REQUEST_RELEASE = text("""
WITH held AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY (CAST(:ids AS bigint[])) AND state = 'running'
    ORDER BY id FOR UPDATE
)
UPDATE jobs SET release_requested_at = coalesce(release_requested_at, statement_timestamp())
WHERE id = ANY (ARRAY(SELECT id FROM held))
RETURNING id
""")


async def request_release(tx: Tx, ids: Sequence[JobId]) -> tuple[JobId, ...]:
    """Ask that the jobs go back to their lanes; return those that run, which were asked.

    Their consumers hear of it as they hear of a cancel. One that does not live any more loses its
    lease, which comes to the same.
    """
    found = await tx.execute(REQUEST_RELEASE, {"ids": list(ids)})
    tx.announce("cancel")  # the same look of the consumers finds both
    return tuple(sorted(found.scalars()))
