"""How much is on each lane and class, at a price that does not rise with the backlog.

Up to COUNTED_UP_TO jobs of a lane and class are counted, and the age of the oldest is that of the
oldest among them, which are the ones that are next. Beyond, the number is estimated from the same
few pages of the table each time, and rounded so that nobody takes it for a count.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil, floor, log10
from typing import Any

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.queue.job import JobState, Priority
from storyshelf.queue.store.hops import ready_lanes

COUNTED_UP_TO = 1_000  # a page with a million jobs reads no more than one with as many as this
SAMPLED_PAGES = (
    50  # some 2,000 jobs, read in a millisecond; a tenth of all is told to a few percent
)

# What forces its shape:
# - Lanes are found by hopping: each is the next one after the last in the ready index, whatever
#   stands on them. `DISTINCT` would read it whole.
# - Each class of a lane is one range of that index, and a LIMIT bounds what is read of it.
# - Parked and deferred jobs have no index by lane. As many as are counted are read, in the order of
#   the index they have; a total beyond the bound says that the rest has to be estimated. (Until the
#   table is analysed, the planner may sort them: it takes them for few.)
# - There are no more running jobs than slots, so they are counted in full.
COUNTED = text(f"""
WITH RECURSIVE {ready_lanes("lanes")},
ready AS (
    SELECT lanes.lane, classes.priority, next.jobs, next.oldest_at
    FROM lanes
    CROSS JOIN (VALUES (0), (10), (20)) AS classes(priority)
    CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, min(ready_at) AS oldest_at
        FROM (
            SELECT greatest(enqueued_at, run_at) AS ready_at
            FROM jobs
            WHERE state = 'queued' AND lane = lanes.lane AND priority = classes.priority
            ORDER BY fair_tag, id LIMIT :bound
        ) AS first
    ) AS next
    WHERE next.jobs > 0
),
deferred AS (
    SELECT lane, priority FROM jobs WHERE state = 'deferred' ORDER BY run_at LIMIT :bound
),
parked AS (
    SELECT lane, priority FROM jobs WHERE state = 'parked'
    ORDER BY project_id, priority DESC, fair_tag, id LIMIT :bound
),
running AS (
    SELECT lane, priority FROM jobs WHERE state = 'running' ORDER BY id
)
SELECT 'queued' AS state, lane, priority, jobs, oldest_at FROM ready
UNION ALL
SELECT 'deferred', lane, priority, count(*), NULL FROM deferred GROUP BY lane, priority
UNION ALL
SELECT 'parked', lane, priority, count(*), NULL FROM parked GROUP BY lane, priority
UNION ALL
SELECT 'running', lane, priority, count(*), NULL FROM running GROUP BY lane, priority
""")  # noqa: S608  # a constant

SIZE = text("SELECT pg_relation_size('jobs') / current_setting('block_size')::int")

# Pages of the table at even distances: the same ones each time, so that a number that is looked at
# twice does not jump while nothing happens. The planner's own guess would do, but not before the
# table has been analysed, which is a minute after a large build came in. The grouping inside keeps
# the subquery apart, without which no page would be read by its number.
SAMPLED = text("""
SELECT state, lane, priority, sum(jobs) AS jobs
FROM unnest(CAST(:pages AS bigint[])) AS page
CROSS JOIN LATERAL (
    SELECT state, lane, priority, count(*) AS jobs
    FROM jobs
    WHERE ctid >= CAST(format('(%s,0)', page) AS tid)
        AND ctid < CAST(format('(%s,0)', page + 1) AS tid)
        AND state IN ('queued', 'deferred', 'parked')
    GROUP BY state, lane, priority
) AS on_page
GROUP BY state, lane, priority
""")


@dataclass(frozen=True, slots=True)
class LaneLoad:
    """How many jobs of a class are on a lane, and since when the oldest that is ready waits."""

    lane: str
    priority: Priority
    queued: int
    deferred: int
    parked: int
    running: int
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Depth:
    """Jobs in one state of one lane and class."""

    state: JobState
    lane: str
    priority: Priority
    jobs: float
    oldest_at: datetime | None = None


async def lane_loads(tx: Tx) -> tuple[LaneLoad, ...]:
    """Return what is on each lane by class, the higher class first.

    More than COUNTED_UP_TO of one sort is an estimate of two digits.
    """
    found = await tx.execute(COUNTED, {"bound": COUNTED_UP_TO + 1})
    counted = [_depth(row, 1) for row in found.mappings()]
    if not _uncounted(counted):
        return _loads(counted)
    return _loads(estimated(counted, await _sampled(tx)))


async def _sampled(tx: Tx) -> list[Depth]:
    pages = (await tx.execute(SIZE)).scalar_one()
    step = max(ceil(pages / SAMPLED_PAGES), 1)
    chosen = range(0, pages, step)
    found = await tx.execute(SAMPLED, {"pages": list(chosen)})
    return [_depth(row, pages / len(chosen)) for row in found.mappings()]


def estimated(counted: Sequence[Depth], sampled: Sequence[Depth]) -> list[Depth]:
    """Return what was counted, with estimates where the count reached its bound."""
    uncounted = _uncounted(counted)
    known = {(each.state, each.lane, each.priority): each for each in counted}
    for guess in sampled:
        key = (guess.state, guess.lane, guess.priority)
        if guess.state in uncounted or key in uncounted:
            least = known.get(key, replace(guess, jobs=0))
            known[key] = replace(least, jobs=max(least.jobs, rounded(guess.jobs)))
    return list(known.values())


def rounded(jobs: float) -> int:
    """Return a number's first two digits, and zeros."""
    whole = round(jobs)
    return round(whole, 1 - floor(log10(whole))) if whole else 0


def _uncounted(counted: Sequence[Depth]) -> set[JobState | tuple[JobState, str, Priority]]:
    """Return of which there are more than were counted: classes of a lane, or a whole state."""
    totals: dict[JobState, float] = defaultdict(float)
    for each in counted:
        totals[each.state] += each.jobs
    return {
        *(state for state in (JobState.DEFERRED, JobState.PARKED) if totals[state] > COUNTED_UP_TO),
        *(
            (each.state, each.lane, each.priority)
            for each in counted
            if each.state is JobState.QUEUED and each.jobs > COUNTED_UP_TO
        ),
    }


def _loads(depths: Sequence[Depth]) -> tuple[LaneLoad, ...]:
    by_class: dict[tuple[str, Priority], dict[JobState, Depth]] = defaultdict(dict)
    for each in depths:
        by_class[each.lane, each.priority][each.state] = each
    ordered = sorted(by_class, key=lambda key: (key[0], -key[1]))
    return tuple(_load(key, by_class[key]) for key in ordered)


def _load(key: tuple[str, Priority], by_state: Mapping[JobState, Depth]) -> LaneLoad:
    ready = by_state.get(JobState.QUEUED)
    lane, priority = key
    return LaneLoad(
        lane=lane,
        priority=priority,
        **{
            state.value: int(by_state[state].jobs) if state in by_state else 0
            for state in (JobState.QUEUED, JobState.DEFERRED, JobState.PARKED, JobState.RUNNING)
        },
        oldest_at=ready.oldest_at if ready else None,
    )


def _depth(row: Mapping[Any, Any], stands_for: float) -> Depth:
    return Depth(
        state=JobState(row["state"]),
        lane=row["lane"],
        priority=Priority(row["priority"]),
        jobs=float(row["jobs"]) * stands_for,
        oldest_at=row.get("oldest_at"),
    )
