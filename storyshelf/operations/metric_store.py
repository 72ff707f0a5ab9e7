"""The statements on what is counted of jobs: `job_metrics` and `metric_flushes`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.operations.accumulator import Batch
from storyshelf.operations.histogram import BUCKETS
from storyshelf.queue.job import Outcome

# How an attempt ends that nobody will follow up, for no good.
BAD = (Outcome.FAILED, Outcome.CRASHED, Outcome.DROPPED, Outcome.UNHANDLED)


class Width(StrEnum):
    """How long a row of figures is; the wider is made of the narrower."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """Attempts of a kind and outcome, added up over a row's time or over several."""

    kind: str
    outcome: Outcome
    count: int
    attempts: int
    wait_ms: int
    run_ms: int
    waits: tuple[int, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """How many attempts ended in a minute, and how many of those in some of the ways there are."""

    minute: datetime
    count: int
    completed: int
    retried: int = 0
    failed: int = 0


def _by_bucket(term: str) -> str:
    """Return an array with one element a bucket, each made by the term with its `{n}`."""
    terms = ", ".join(term.format(n=n) for n in range(1, BUCKETS + 1))
    return f"CAST(ARRAY[{terms}] AS bigint[])"


COLUMNS = """
    width, start_at, kind, outcome, count, attempts, wait_ms, run_ms, wait_histogram, run_histogram
"""
TOTALS = f"""
    CAST(sum(count) AS bigint) AS count, CAST(sum(attempts) AS bigint) AS attempts,
    CAST(sum(wait_ms) AS bigint) AS wait_ms, CAST(sum(run_ms) AS bigint) AS run_ms,
    {_by_bucket("sum(wait_histogram[{n}])")} AS wait_histogram,
    {_by_bucket("sum(run_histogram[{n}])")} AS run_histogram
"""

# What forces its shape:
# - Two minutes of the process can be one of the database's, and a row is updated once: so they are
#   added up here first.
# - Rows in order of their key, as several processes flush into the same minute at once.
# - A flush that was counted is found by its number, and nothing is added; one that another
#   connection is just committing is waited for.
ADD = text(f"""
WITH flush AS (
    INSERT INTO metric_flushes (nonce, sequence) VALUES (:nonce, :sequence)
    ON CONFLICT DO NOTHING RETURNING sequence
),
said AS (
    SELECT *, date_trunc('minute', statement_timestamp() - make_interval(secs => ago_s), 'UTC')
        AS start_at
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(
        ago_s float8, kind text, outcome text, count bigint, attempts bigint, wait_ms bigint,
        run_ms bigint, wait_histogram bigint[], run_histogram bigint[]
    )
    WHERE EXISTS (SELECT FROM flush)
),
added AS (
    INSERT INTO job_metrics AS known ({COLUMNS})
    SELECT 'minute', start_at, kind, outcome, {TOTALS}
    FROM said GROUP BY start_at, kind, outcome ORDER BY start_at, kind, outcome
    ON CONFLICT (width, start_at, kind, outcome) DO UPDATE SET
        count = known.count + excluded.count, attempts = known.attempts + excluded.attempts,
        wait_ms = known.wait_ms + excluded.wait_ms, run_ms = known.run_ms + excluded.run_ms,
        wait_histogram = {_by_bucket("known.wait_histogram[{n}] + excluded.wait_histogram[{n}]")},
        run_histogram = {_by_bucket("known.run_histogram[{n}] + excluded.run_histogram[{n}]")}
)
SELECT EXISTS (SELECT FROM flush)
""")  # noqa: S608  # made of constants

# What forces its shape:
# - It begins `late` before the newest row there is, so that what was flushed late is in as well.
# - Rows that are gone already make no group, and so take nothing away.
# - A row that is right as it is is not written: a system that does nothing writes nothing. Whatever
#   changes a row changes its count.
ROLL_UP = text(f"""
WITH made AS MATERIALIZED (
    SELECT CAST(:wide AS text) AS width, date_trunc(CAST(:wide AS text), start_at, 'UTC') AS at,
        kind, outcome, {TOTALS}
    FROM job_metrics
    WHERE width = :narrow AND start_at >= coalesce(
        (
            SELECT date_trunc(CAST(:wide AS text), max(start_at) - CAST(:late AS interval), 'UTC')
            FROM job_metrics WHERE width = CAST(:wide AS text)
        ),
        '-infinity'
    )
    GROUP BY at, kind, outcome
)
INSERT INTO job_metrics ({COLUMNS})
SELECT made.* FROM made
LEFT JOIN job_metrics AS known ON known.width = made.width AND known.start_at = made.at
    AND known.kind = made.kind AND known.outcome = made.outcome
WHERE known.count IS DISTINCT FROM made.count
ORDER BY made.at, made.kind, made.outcome
ON CONFLICT (width, start_at, kind, outcome) DO UPDATE SET
    count = excluded.count, attempts = excluded.attempts,
    wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,
    wait_histogram = excluded.wait_histogram, run_histogram = excluded.run_histogram
""")  # noqa: S608  # made of constants

# Whole rows of the wider sort at a time: one must never be made again of a part of what it was.
FORGET = text("""
DELETE FROM job_metrics
WHERE width = :narrow AND start_at < date_trunc(
    CAST(:wide AS text), statement_timestamp() - CAST(:kept AS interval), 'UTC'
)
""")
FORGET_FLUSHES = text("""
DELETE FROM metric_flushes WHERE flushed_at < statement_timestamp() - CAST(:kept AS interval)
""")
ALONE = text("SELECT pg_try_advisory_xact_lock(:lock)")

TOTALS_OF_LAST = text(f"""
SELECT kind, outcome, {TOTALS} FROM job_metrics
WHERE width = :width AND start_at > statement_timestamp() - CAST(:last AS interval)
GROUP BY kind, outcome ORDER BY kind, outcome
""")  # noqa: S608  # made of constants

TOTALS_EVER = text(f"""
SELECT kind, outcome, {TOTALS} FROM job_metrics
WHERE width = 'day' GROUP BY kind, outcome ORDER BY kind, outcome
""")  # noqa: S608  # made of constants

# Also minutes in which nothing ended, and without this one, which is not over.
ENDED = text("""
SELECT minute, CAST(coalesce(sum(count), 0) AS bigint) AS count,
    CAST(coalesce(sum(count) FILTER (WHERE outcome = 'completed'), 0) AS bigint) AS completed,
    CAST(coalesce(sum(count) FILTER (WHERE outcome = 'retried'), 0) AS bigint) AS retried,
    CAST(coalesce(sum(count) FILTER (WHERE outcome = ANY (:bad)), 0) AS bigint) AS failed
FROM generate_series(
    date_trunc('minute', statement_timestamp(), 'UTC') - make_interval(mins => :minutes),
    date_trunc('minute', statement_timestamp(), 'UTC') - interval '1 minute',
    interval '1 minute'
) AS minute
LEFT JOIN job_metrics ON width = 'minute' AND start_at = minute
GROUP BY minute ORDER BY minute
""")


async def add(tx: Tx, number: tuple[UUID, int], batch: Batch, now: float) -> bool:
    """Add a batch to its minutes, and tell whether that was done now or had been done before.

    It is known by its number, nonce and sequence. `now` is of the clock the batch is told by.
    """
    rows = [
        {
            "ago_s": max(now - sums.latest_at, 0.0),
            "kind": key.kind,
            "outcome": key.outcome.value,
            "count": sums.count,
            "attempts": sums.attempts,
            "wait_ms": sums.wait_ms,
            "run_ms": sums.run_ms,
            "wait_histogram": sums.waits,
            "run_histogram": sums.runs,
        }
        for key, sums in batch.items()
    ]
    nonce, sequence = number
    values = {"nonce": nonce, "sequence": sequence, "rows": json.dumps(rows)}
    return bool((await tx.execute(ADD, values)).scalar_one())


async def is_alone(tx: Tx, lock: int) -> bool:
    """Tell whether nobody else does what the lock stands for; it is held until the commit."""
    return bool((await tx.execute(ALONE, {"lock": lock})).scalar_one())


async def roll_up(tx: Tx, narrow: Width, wide: Width, late: timedelta) -> None:
    """Make wide rows anew of narrow ones, from `late` before the newest wide one on."""
    await tx.execute(ROLL_UP, {"narrow": narrow.value, "wide": wide.value, "late": late})


async def forget(tx: Tx, narrow: Width, wide: Width, kept: timedelta) -> None:
    """Remove narrow rows beyond that time, as many at once as make a wide one."""
    await tx.execute(FORGET, {"narrow": narrow.value, "wide": wide.value, "kept": kept})


async def forget_flushes(tx: Tx, kept: timedelta) -> None:
    """Forget numbers that no process can send again."""
    await tx.execute(FORGET_FLUSHES, {"kept": kept})


async def totals_of_last(tx: Tx, width: Width, last: timedelta) -> tuple[MetricRow, ...]:
    """Return each kind's and outcome's sums over the rows that began within that time."""
    return _rows(await tx.execute(TOTALS_OF_LAST, {"width": width.value, "last": last}))


async def totals_ever(tx: Tx) -> tuple[MetricRow, ...]:
    """Return each kind's and outcome's sums over all time, as of the last rollup."""
    return _rows(await tx.execute(TOTALS_EVER))


async def ended(tx: Tx, minutes: int) -> tuple[Ended, ...]:
    """Return what ended in each of the last whole minutes, the oldest first."""
    found = await tx.execute(ENDED, {"minutes": minutes, "bad": list(BAD)})
    return tuple(Ended(**row) for row in found.mappings())


def _rows(found: Any) -> tuple[MetricRow, ...]:
    return tuple(_row(row) for row in found.mappings())


def _row(row: Mapping[str, Any]) -> MetricRow:
    return MetricRow(
        kind=row["kind"],
        outcome=Outcome(row["outcome"]),
        count=row["count"],
        attempts=row["attempts"],
        wait_ms=row["wait_ms"],
        run_ms=row["run_ms"],
        waits=tuple(row["wait_histogram"]),
        runs=tuple(row["run_histogram"]),
    )
