"""Take ready jobs for the free slots of each lane."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from storyshelf.db.line import Fetches
from storyshelf.ids import ConsumerId
from storyshelf.queue.job import Claimed, Priority
from storyshelf.queue.slots import Offer
from storyshelf.queue.store.rows import lease_of

# What forces the shape of both statements below:
# - `synchronous_commit` is said in the statement, so that a pooled connection cannot carry it into
#   a durable settle. A claim lost in a crash is a job that is simply queued again.
# - One range of the ready index for each lane and class, whatever stands on another: a class has a
#   floor of its own, below which only the index still holds entries (see low_water). A LIMIT that
#   comes from a row makes the planner guess a tenth of the table, hence `= ANY (ARRAY(...))` below:
#   a join on the guess would read all of `jobs`.
# - Each range is told how many jobs its lane has already got, so that it locks no row that it will
#   not take: a lease starts when the work starts. `shared` is what jobs may take that nobody waits
#   for; the rest of `free` is kept for those that somebody does.
# - Running jobs are read once, for all lanes: who is over, and who has had the last try. Of the
#   former each lane gets its own number; whoever locks one first is at it.
# - What this statement promotes it cannot claim, since all its parts read one snapshot. It says
#   how many there were, and the caller asks again at once.
# - A job of a cancelled or worn-out attempt is never taken, only reported as overdue: ending it
#   is a matter of its kind, see expire.py.

# What this process cannot do is left to another. Where such jobs stand on a lane that is offered,
# they are walked over, so a new kind gets a new lane; see the package.
IS_HANDLED = "(CAST(:kinds AS text[]) IS NULL OR kind = ANY (CAST(:kinds AS text[])))"

# What a claim gives for jobs; the same in both forms.
MODE = """mode AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS word),
batch AS MATERIALIZED (SELECT gen_random_uuid() AS token),
offered AS MATERIALIZED (
    SELECT o.*
    FROM unnest(
        CAST(:lanes AS text[]), CAST(:free AS int[]), CAST(:shared AS int[]),
        CAST(:floors_20 AS bigint[]), CAST(:floors_10 AS bigint[]), CAST(:floors_0 AS bigint[])
    ) AS o(lane, free, shared, floor_20, floor_10, floor_0)
    WHERE o.free > 0
)"""

READY = f"""ready_20 AS MATERIALIZED (
    SELECT o.lane, r.id
    FROM left_20 AS o
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE state = 'queued' AND lane = o.lane AND priority = 20 AND fair_tag >= o.floor_20
            AND {IS_HANDLED}
        ORDER BY fair_tag, id LIMIT greatest(o.free_left, 0)
        FOR UPDATE SKIP LOCKED
    ) AS r
),
left_10 AS MATERIALIZED (
    SELECT o.lane, o.floor_10, o.floor_0,
        greatest(least(o.shared_left, o.free_left - e.jobs), 0) AS places
    FROM left_20 AS o
    CROSS JOIN LATERAL (SELECT count(*) AS jobs FROM ready_20 WHERE ready_20.lane = o.lane) AS e
),
ready_10 AS MATERIALIZED (
    SELECT o.lane, r.id
    FROM left_10 AS o
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE state = 'queued' AND lane = o.lane AND priority = 10 AND fair_tag >= o.floor_10
            AND {IS_HANDLED}
        ORDER BY fair_tag, id LIMIT o.places
        FOR UPDATE SKIP LOCKED
    ) AS r
),
ready_0 AS MATERIALIZED (
    SELECT r.id
    FROM left_10 AS o
    CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE state = 'queued' AND lane = o.lane AND priority = 0 AND fair_tag >= o.floor_0
            AND {IS_HANDLED}
        ORDER BY fair_tag, id
        LIMIT o.places - (SELECT count(*) FROM ready_10 AS e WHERE e.lane = o.lane)
        FOR UPDATE SKIP LOCKED
    ) AS r
)"""  # noqa: S608  # put together from the constant above


def _due(most: int) -> str:
    return f"""due AS MATERIALIZED (
    SELECT id, lane FROM jobs
    WHERE state = 'deferred' AND run_at <= statement_timestamp()
    ORDER BY run_at LIMIT {most}
    FOR UPDATE SKIP LOCKED
)"""  # noqa: S608  # a number of ours


NEXT_DUE = """(SELECT count(*) FROM promoted) AS promoted,
        (
            SELECT extract(epoch FROM min(run_at) - statement_timestamp())
            FROM jobs
            WHERE state = 'deferred' AND run_at > statement_timestamp()
        ) AS next_due_s"""


def _taken(which: str) -> str:
    return f"""taken AS (
    UPDATE jobs
    SET state = 'running',
        attempt = attempt + 1,
        charged = charged + 1,
        lease_token = batch.token,
        lease_expires_at = statement_timestamp() + make_interval(secs => :lease_s),
        consumer_id = :consumer_id,
        started_at = coalesce(started_at, statement_timestamp()),
        attempt_started_at = statement_timestamp(),
        progress_at = NULL,
        release_requested_at = NULL
    FROM batch
    WHERE id = ANY (ARRAY(
        {which}
    ))
    RETURNING id, lease_token, kind, lane, payload, project_id, build_id, generation, attempt,
        charged, max_attempts, priority, fair_tag, request_id, traceparent,
        1000 * extract(epoch FROM statement_timestamp() - greatest(enqueued_at, run_at))
            AS waited_ms
)"""  # noqa: S608  # `which` is one of two constants


READY_IDS = """SELECT id FROM ready_20 UNION ALL SELECT id FROM ready_10
        UNION ALL SELECT id FROM ready_0"""

CLAIM = text(f"""
WITH {MODE},
{_due(100)},
promoted AS (
    UPDATE jobs SET state = 'queued' WHERE id = ANY (ARRAY(SELECT id FROM due))
    RETURNING id
),
over AS MATERIALIZED (
    SELECT id, lane, priority, lease_expires_at,
        charged >= max_attempts OR cancel_requested_at IS NOT NULL AS is_last
    FROM jobs WHERE state = 'running' AND lease_expires_at <= statement_timestamp()
),
ranked AS (
    SELECT v.id, CASE WHEN o.shared > 0 THEN o.shared ELSE o.free END AS most,
        row_number() OVER (PARTITION BY v.lane ORDER BY v.lease_expires_at, v.id) AS place
    FROM over AS v JOIN offered AS o ON o.lane = v.lane
    WHERE NOT v.is_last AND (v.priority = 20 OR o.shared > 0)
),
expired AS MATERIALIZED (
    SELECT id, lane, attempt, consumer_id, lease_token, attempt_started_at FROM jobs
    WHERE id = ANY (ARRAY(SELECT id FROM ranked WHERE place <= most))
        AND state = 'running' AND lease_expires_at <= statement_timestamp()
        AND charged < max_attempts AND cancel_requested_at IS NULL AND {IS_HANDLED}
    ORDER BY id
    FOR UPDATE SKIP LOCKED
),
left_20 AS MATERIALIZED (
    SELECT o.*, o.free - e.jobs AS free_left, o.shared - e.jobs AS shared_left
    FROM offered AS o
    CROSS JOIN LATERAL (SELECT count(*) AS jobs FROM expired WHERE expired.lane = o.lane) AS e
),
{READY},
lost AS (
    INSERT INTO job_attempts (
        job_id, attempt, consumer_id, lease_token, outcome, error, started_at, ended_at
    )
    SELECT id, attempt, consumer_id, lease_token, 'lost', :lost, attempt_started_at,
        statement_timestamp()
    FROM expired
),
{_taken("SELECT id FROM expired UNION ALL " + READY_IDS)},
rest AS (
    SELECT
        {NEXT_DUE},
        EXISTS (SELECT FROM over WHERE is_last) AS overdue,
        EXISTS (SELECT FROM jobs WHERE state = 'parked') AS parked,
        (SELECT count(*) FROM expired) AS taken_over
)
SELECT taken.*, rest.promoted, rest.next_due_s, rest.overdue, rest.parked, rest.taken_over
FROM mode CROSS JOIN rest LEFT JOIN taken ON true
""")  # noqa: S608  # put together from the constants above

# What is ready or due, from a floor on. What is expired or parked is looked for by the full form,
# which comes at least once in every poll's time. A job that is due is lifted to the floor: below it
# nobody would look for it before that.
REFILL = text(f"""
WITH {MODE},
{_due(50)},
promoted AS (
    UPDATE jobs AS j SET state = 'queued', fair_tag = greatest(
        j.fair_tag,
        CASE j.priority WHEN 20 THEN o.floor_20 WHEN 10 THEN o.floor_10 ELSE o.floor_0 END
    )
    FROM due AS d LEFT JOIN offered AS o ON o.lane = d.lane
    WHERE j.id = d.id
    RETURNING j.id
),
left_20 AS MATERIALIZED (
    SELECT o.*, o.free AS free_left, o.shared AS shared_left FROM offered AS o
),
{READY},
{_taken(READY_IDS)},
rest AS (
    SELECT {NEXT_DUE}
)
SELECT taken.*, rest.promoted, rest.next_due_s
FROM mode CROSS JOIN rest LEFT JOIN taken ON true
""")  # noqa: S608  # put together from the constants above

LEASE_RAN_OUT = "The lease ran out: the consumer died, hung, or lost the database"


NO_FLOOR = -(2**62)


async def claim(
    tx: Fetches,
    consumer_id: ConsumerId,
    free: Mapping[str, int | Offer],
    lease_for: timedelta,
    kinds: Sequence[str] | None = None,
) -> Claimed:
    """Take up to the free number of jobs of each lane: expired ones first, then ready ones.

    Not durable, and alone in its transaction. All jobs of one claim share a token. A bare number
    offers that many places to whatever stands first. Only jobs of the kinds are taken, of any if
    none is named. With floors it brings what is ready, and makes ready what is due; nobody looks
    then for what is expired, overdue or parked.
    """
    offers = [each if isinstance(each, Offer) else Offer(each, each) for each in free.values()]
    values: dict[str, object] = {
        "lanes": list(free),
        "free": [offer.free for offer in offers],
        "shared": [offer.shared for offer in offers],
        "floors_20": _floors(offers, Priority.INTERACTIVE),
        "floors_10": _floors(offers, Priority.DEFAULT),
        "floors_0": _floors(offers, Priority.MAINTENANCE),
        "consumer_id": consumer_id,
        "lease_s": lease_for.total_seconds(),
        "kinds": None if kinds is None else list(kinds),
    }
    if any(offer.floors for offer in offers):
        return replace(_claimed(await tx.fetch(REFILL, values)), parked=None)
    rows = await tx.fetch(CLAIM, {**values, "lost": LEASE_RAN_OUT})
    rest = rows[0]
    return replace(
        _claimed(rows),
        overdue=rest.overdue,
        parked=rest.parked,
        taken_over=rest.taken_over,
    )


def _claimed(rows: Sequence[Any]) -> Claimed:
    return Claimed(
        leases=tuple(lease_of(row) for row in rows if row.id is not None),
        next_due_s=_next_due_s(rows[0].promoted, rows[0].next_due_s),
    )


def _floors(offers: Sequence[Offer], priority: Priority) -> list[int]:
    return [offer.floors.get(priority, NO_FLOOR) for offer in offers]


def _next_due_s(promoted: int, next_due_s: float | None) -> float | None:
    if promoted:
        return 0.0
    return None if next_due_s is None else float(next_due_s)
