"""What waits that no live consumer takes: whole lanes, and kinds on lanes that somebody offers.

And the end of jobs that waited there for too long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.queue.store.hops import parked_projects, ready_lanes
from storyshelf.queue.store.kept import kept
from storyshelf.queue.store.rows import SettledJob, settled_of

DEFERRED = 1_000  # of all lanes, those that are due first
HEAD = 100  # of a lane: jobs that nobody takes rise to its head, as those before them are taken

# The lanes of the ready index are found by hopping from one to the next: DISTINCT would read the
# whole backlog. So are the projects with parked jobs, of each of which the first one tells.
# Deferred jobs count too, since without a consumer nobody makes them ready. Of those the first are
# looked at: what is due is taken away from there, but for what nobody serves.
UNSERVED = text(f"""
WITH RECURSIVE {ready_lanes("ready")},
{parked_projects("parking")},
waiting AS (
    SELECT lane FROM ready WHERE lane IS NOT NULL
    UNION
    (SELECT lane FROM jobs WHERE state = 'deferred' ORDER BY run_at LIMIT :deferred)
    UNION
    SELECT j.lane FROM parking AS p CROSS JOIN LATERAL (
        SELECT lane FROM jobs WHERE state = 'parked' AND project_id = p.project_id
        ORDER BY priority DESC, fair_tag, id LIMIT 1
    ) AS j
),
offers AS MATERIALIZED (
    SELECT DISTINCT lanes, kinds FROM consumers
    WHERE state = 'running'
        AND beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
),
heads AS (
    SELECT DISTINCT r.lane, h.kind
    FROM ready AS r
    CROSS JOIN LATERAL (
        SELECT kind FROM jobs AS j WHERE j.state = 'queued' AND j.lane = r.lane
        ORDER BY j.priority DESC, j.fair_tag, j.id LIMIT :head
    ) AS h
    WHERE EXISTS (SELECT FROM offers AS o WHERE r.lane = ANY (o.lanes))
)
SELECT w.lane, NULL AS kind
FROM waiting AS w
WHERE NOT EXISTS (SELECT FROM offers AS o WHERE w.lane = ANY (o.lanes))
UNION ALL
SELECT h.lane, h.kind
FROM heads AS h
WHERE NOT EXISTS (SELECT FROM offers AS o WHERE h.lane = ANY (o.lanes) AND h.kind = ANY (o.kinds))
ORDER BY lane, kind
""")  # noqa: S608  # a constant

OFFERS = text("""
SELECT DISTINCT lanes FROM consumers
WHERE state = 'running' AND beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
ORDER BY lanes
""")

UNHANDLED = {
    "state": "'failed'",
    "outcome": "'unhandled'",
    "error": ":error",
    "last_token": "last_token",
}
# Which jobs is settled first, each state by its own index, and then they are locked by id. A kind
# is looked for among the first of the lane alone, so that nobody else's backlog is walked.
END_WAITING = text(f"""
WITH first AS MATERIALIZED (
    (
        SELECT id FROM jobs WHERE state = 'queued' AND lane = :lane
            AND enqueued_at <= statement_timestamp() - make_interval(secs => :waited_s)
        ORDER BY priority DESC, fair_tag, id LIMIT :limit
    )
    UNION ALL
    (SELECT id FROM jobs WHERE state = 'deferred' AND lane = :lane ORDER BY run_at LIMIT :limit)
    UNION ALL
    (SELECT id FROM jobs WHERE state = 'parked' AND lane = :lane ORDER BY project_id LIMIT :limit)
),
held AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY (ARRAY(SELECT id FROM first)) AND state IN ('queued', 'deferred', 'parked')
        AND enqueued_at <= statement_timestamp() - make_interval(secs => :waited_s)
        AND (CAST(:kind AS text) IS NULL OR kind = CAST(:kind AS text))
    ORDER BY id LIMIT :limit
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM jobs WHERE id = ANY (ARRAY(SELECT id FROM held)) RETURNING *
),
kept AS (
    {kept("gone", UNHANDLED)}
)
SELECT id, kind, payload, project_id, build_id, generation, 'unhandled' AS outcome,
    CAST(:error AS text) AS error
FROM gone ORDER BY id
""")  # noqa: S608  # a constant


@dataclass(frozen=True, slots=True, order=True)
class Unserved:
    """A lane that nobody offers, or a kind on it that none of those who offer it handles."""

    lane: str
    kind: str = ""  # none: the whole lane

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.kind} jobs on the lane {self.lane}" if self.kind else f"the lane {self.lane}"


async def unserved(tx: Tx, silent_for: timedelta) -> tuple[Unserved, ...]:
    """Return what waits and is taken by nobody who has beaten within that time.

    Of consumers those that run: a quiet one takes nothing.
    """
    found = await tx.execute(
        UNSERVED,
        {"silent_s": silent_for.total_seconds(), "head": HEAD, "deferred": DEFERRED},
    )
    return tuple(Unserved(row.lane, row.kind or "") for row in found)


async def offers(tx: Tx, silent_for: timedelta) -> Sequence[frozenset[str]]:
    """Return the sets of lanes that live consumers offer, each set once."""
    found = await tx.execute(OFFERS, {"silent_s": silent_for.total_seconds()})
    return [frozenset(lanes) for lanes in found.scalars()]


async def end_waiting(
    tx: Tx, one: Unserved, waited: timedelta, *, limit: int
) -> tuple[SettledJob, ...]:
    """End jobs of the lane, or of the kind on it, that have waited for that long, as unhandled.

    First in its transaction; the caller runs `ended` for each in the same one.
    """
    values = {
        "lane": one.lane,
        "kind": one.kind or None,
        "waited_s": waited.total_seconds(),
        "limit": limit,
        "error": f"No consumer served {one} for {waited.total_seconds() / 60:g} minutes",
    }
    found = await tx.execute(END_WAITING, values)
    return tuple(settled_of(row) for row in found)
