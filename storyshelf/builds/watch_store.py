"""What passes ask of builds again and again; nothing here locks or writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, literal, select, text

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.store import COLUMNS, build_of
from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow
from storyshelf.ids import BuildId, EnvironmentId

# One statement, one moment: what a transaction writes together is never seen by halves. The minute
# is for people who mend by hand; the product's own steps leave nothing of this for an instant.
# So many builds are looked at, damaged or not, in the order of the index of unended ones: by id the
# planner may walk over all that ever ended. Only so many builds' shards are counted, then.
DAMAGED = text("""
WITH looked AS MATERIALIZED (
    SELECT id, created_at, state, generation, open_shards, planned_at, sealed_at, plan_job_id,
        finalise_job_id
    FROM builds
    WHERE ended_at IS NULL AND (created_at, id) > (
        coalesce(CAST(:after_at AS timestamptz), '-infinity'), CAST(:after_id AS bigint)
    )
    ORDER BY created_at, id LIMIT :limit
)
SELECT b.id, b.created_at, CASE b.state
    WHEN 'capturing' THEN b.planned_at < statement_timestamp() - interval '1 minute' AND (
        b.open_shards <> o.open
        OR o.open = 0 AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.id = b.finalise_job_id)
    )
    WHEN 'uploading' THEN false
    ELSE b.sealed_at < statement_timestamp() - interval '1 minute'
        AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.id = b.plan_job_id)
END AS is_damaged
FROM looked AS b
CROSS JOIN LATERAL (
    SELECT count(*) AS open FROM shards AS s
    WHERE b.state = 'capturing' AND s.build_id = b.id AND s.generation = b.generation
        AND s.state = 'open'
) AS o
ORDER BY b.created_at, b.id
""")


# Builds are as many as there ever were, and those of the queue's table few: they are found there by
# hopping from one to the next, however many jobs each has. The limits keep the planner to it: it
# guesses that there are many, and would join the whole tables.
LEFT_RUNNING = text("""
WITH RECURSIVE live AS (
    (SELECT build_id FROM jobs WHERE build_id IS NOT NULL ORDER BY build_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT j.build_id FROM jobs AS j
        WHERE j.build_id > l.build_id ORDER BY j.build_id LIMIT 1
    )
    FROM live AS l WHERE l.build_id IS NOT NULL
)
SELECT b.id
FROM live AS l
CROSS JOIN LATERAL (
    SELECT id, generation FROM builds WHERE id = l.build_id AND generation > 1 LIMIT 1
) AS b
CROSS JOIN LATERAL (
    SELECT FROM jobs AS j
    WHERE j.build_id = b.id AND j.generation < b.generation AND j.cancel_requested_at IS NULL
    LIMIT 1
) AS left_alone
ORDER BY b.id LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class Turn:
    """A place among the unended builds, which are looked at in the order of their beginning."""

    created_at: datetime
    build_id: BuildId


@dataclass(frozen=True, slots=True)
class Looked:
    """What was damaged of those that were looked at, and the last of them; None: no more follow."""

    damaged: tuple[BuildId, ...]
    last: Turn | None


async def any_stale_upload(tx: Tx, after: timedelta) -> bool:
    """Say whether an upload began too long ago."""
    is_stale = exists().where(
        BuildRow.ended_at.is_(None),  # the partial index of unended builds
        BuildRow.state == BuildState.UPLOADING,
        BuildRow.created_at < func.now() - literal(after),
    )
    return bool((await tx.execute(select(is_stale))).scalar_one())


async def left_running(tx: Tx, limit: int) -> Sequence[Build]:
    """Return builds that moved on while jobs of an older generation of theirs were left alone."""
    ids = list((await tx.execute(LEFT_RUNNING, {"limit": limit})).scalars())
    if not ids:
        return []
    rows = await tx.execute(select(*COLUMNS).where(BuildRow.id.in_(ids)).order_by(BuildRow.id))
    return [build_of(row) for row in rows]


async def look_for_damage(tx: Tx, after: Turn | None, *, limit: int) -> Looked:
    """Look at the next so many unended builds: has any no job that moves it on, or a wrong count?

    Of open shards, that is.
    """
    at, build_id = (None, 0) if after is None else (after.created_at, after.build_id)
    values = {"after_at": at, "after_id": build_id, "limit": limit}
    rows = (await tx.execute(DAMAGED, values)).all()
    damaged = tuple(BuildId(row.id) for row in rows if row.is_damaged)
    is_whole = len(rows) < limit
    return Looked(damaged, None if is_whole else Turn(rows[-1].created_at, BuildId(rows[-1].id)))


async def waiting_in(
    tx: Tx, environment: EnvironmentId, max_replans: int, limit: int
) -> Sequence[Build]:
    """Return builds that are captured in the environment and were planned again less often."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(
            BuildRow.ended_at.is_(None),  # the partial index of unended builds
            BuildRow.state == BuildState.CAPTURING,
            BuildRow.environment_id == environment,
            BuildRow.open_shards > 0,
            BuildRow.replans < max_replans,
        )
        .order_by(BuildRow.id)
        .limit(limit)
    )
    return [build_of(row) for row in rows]
