"""Stop jobs: what waits leaves the queue at once, what runs is asked to stop."""

from collections.abc import Mapping, Sequence

from sqlalchemy import TextClause, text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, JobId
from storyshelf.queue.job import EndedJob
from storyshelf.queue.store.kept import kept
from storyshelf.queue.store.rows import ended_of

CANCELLED_ON_REQUEST = "cancelled on request"
CANCELLED = {
    "state": "'cancelled'",
    "outcome": "'cancelled'",
    "error": ":error",
    "last_token": "last_token",
}


def _cancel_where(which: str) -> TextClause:
    # Rows are locked in order of id before any is touched, as every path that locks several jobs
    # does. A row that is being settled is waited for, and is then gone or no longer running.
    return text(f"""
WITH held AS MATERIALIZED (
    SELECT id, state FROM jobs WHERE {which} ORDER BY id FOR UPDATE
),
asked AS (
    UPDATE jobs SET cancel_requested_at = coalesce(cancel_requested_at, statement_timestamp())
    WHERE id = ANY (ARRAY(SELECT id FROM held WHERE state = 'running'))
),
gone AS (
    DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held WHERE state <> 'running'))
    RETURNING *
),
kept AS (
    {kept("gone", CANCELLED)}
)
SELECT id, kind, payload, project_id, build_id, generation FROM gone ORDER BY id
""")  # noqa: S608  # `which` is one of the constants below


CANCEL_JOBS = _cancel_where("id = ANY (CAST(:ids AS bigint[]))")
CANCEL_BUILD = _cancel_where(
    "build_id = CAST(:build_id AS bigint)"
    " AND (CAST(:older_than AS int) IS NULL OR generation < CAST(:older_than AS int))"
)


async def cancel_build_jobs(
    tx: Tx, build_id: BuildId, *, older_than_generation: int | None
) -> tuple[EndedJob, ...]:
    """End the build's waiting jobs as cancelled and ask its running ones to stop.

    Returns the jobs that ended now. The caller must pass them to `JobKinds.ended` in the same
    transaction, and must call this first in it: jobs come before shards and builds in the lock
    order, so a transaction that already holds the build's row has to commit before. A running job
    is ended later, by its consumer or by the expiry of its lease, through the same `ended`.
    Safe to repeat: what was asked to stop stays asked.
    """
    values = {"build_id": build_id, "older_than": older_than_generation}
    return await _cancel(tx, CANCEL_BUILD, values)


async def cancel_jobs(tx: Tx, ids: Sequence[JobId]) -> tuple[EndedJob, ...]:
    """End those of the jobs that wait and ask those that run to stop; see cancel_build_jobs."""
    return await _cancel(tx, CANCEL_JOBS, {"ids": list(ids)})


async def _cancel(
    tx: Tx, statement: TextClause, values: Mapping[str, object]
) -> tuple[EndedJob, ...]:
    found = await tx.execute(statement, {**values, "error": CANCELLED_ON_REQUEST})
    tx.announce("cancel")
    return tuple(ended_of(row) for row in found)
