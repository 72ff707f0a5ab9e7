"""Hours are made of minutes and days of hours: complete, also late, and as often as one likes."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.operations import metric_store
from storyshelf.operations.histogram import BUCKETS
from storyshelf.operations.rollup import HOURS_KEPT, LOCK, MINUTES_KEPT, roll_up
from tests.queue.builders import run, table

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
ONE_EACH = "CAST(array_fill(1, ARRAY[24]) AS bigint[])"


async def this_hour(db: Database) -> datetime:
    async with db.transaction() as tx:
        found = await tx.execute(text("SELECT date_trunc('hour', now(), 'UTC')"))
        return found.scalar_one().astimezone(UTC)  # type: ignore[no-any-return]  # a timestamp


async def counted(db: Database, start_at: datetime, count: int = 1, kind: str = "plan") -> None:
    """Count so many attempts into a minute, as a flush does."""
    async with db.transaction() as tx:
        await tx.execute(
            text(f"""
            INSERT INTO job_metrics AS known
            VALUES ('minute', '{start_at.isoformat()}', '{kind}', 'completed', {count}, {count},
                {10 * count}, {20 * count}, {ONE_EACH}, {ONE_EACH})
            ON CONFLICT (width, start_at, kind, outcome)
                DO UPDATE SET count = known.count + excluded.count
            """)
        )


async def counts(db: Database, width: str) -> dict[datetime, int]:
    return {row["start_at"]: row["count"] for row in await of_width(db, width)}


async def of_width(db: Database, width: str) -> list[Mapping[str, Any]]:
    rows = [row for row in await table(db, "job_metrics") if row["width"] == width]
    return sorted(rows, key=lambda row: row["start_at"])


async def test_an_hour_is_the_sum_of_its_minutes(db: Database) -> None:
    hour = await this_hour(db) - HOUR
    for minute in (0, 30, 59):
        await counted(db, hour + minute * MINUTE, count=2)
    await roll_up(db)
    (row,) = await of_width(db, "hour")
    assert row["start_at"] == hour
    assert (row["count"], row["attempts"], row["wait_ms"], row["run_ms"]) == (6, 6, 60, 120)
    assert row["wait_histogram"] == row["run_histogram"] == [3] * BUCKETS


async def test_a_day_is_the_sum_of_its_hours(db: Database) -> None:
    day = (await this_hour(db) - DAY).replace(hour=0)
    await counted(db, day + 3 * HOUR)
    await counted(db, day + 22 * HOUR, count=5)
    await roll_up(db)
    assert (await counts(db, "day"))[day] == 6


async def test_kinds_are_rolled_up_apart(db: Database) -> None:
    hour = await this_hour(db)
    await counted(db, hour, kind="plan")
    await counted(db, hour, count=2, kind="capture")
    await roll_up(db)
    rows = await of_width(db, "hour")
    assert {row["kind"]: row["count"] for row in rows} == {"plan": 1, "capture": 2}


async def test_rolling_up_again_changes_nothing(db: Database) -> None:
    hour = await this_hour(db)
    for back in range(30):
        await counted(db, hour - back * HOUR, count=back + 1)
    await roll_up(db)
    before = [await of_width(db, width) for width in ("minute", "hour", "day")]
    await roll_up(db)
    assert [await of_width(db, width) for width in ("minute", "hour", "day")] == before


async def test_what_is_right_as_it_is_is_not_written(db: Database) -> None:
    await counted(db, await this_hour(db))
    await roll_up(db)
    before = await versions(db)
    await roll_up(db)
    assert await versions(db) == before
    await counted(db, await this_hour(db))
    await roll_up(db)
    assert len(await versions(db) - before) == 3  # the minute, its hour and its day


async def versions(db: Database) -> set[str]:
    """The transactions that wrote the rows, and those that locked them, by where they are."""
    async with db.transaction() as tx:
        found = await tx.execute(text("SELECT concat_ws(' ', ctid, xmin, xmax) FROM job_metrics"))
        return set(found.scalars())


async def test_what_is_flushed_an_hour_late_is_in_its_hour_and_its_day(db: Database) -> None:
    hour = await this_hour(db)
    await counted(db, hour)
    await counted(db, hour - HOUR)
    await roll_up(db)
    await counted(db, hour - MINUTE, count=4)
    await roll_up(db)
    assert await counts(db, "hour") == {hour: 1, hour - HOUR: 5}
    assert sum((await counts(db, "day")).values()) == 6


async def test_what_came_late_while_nobody_led_is_not_lost(db: Database) -> None:
    """Flushed after the last pass, into an hour before it; the next pass is long after."""
    hour = await this_hour(db) - 20 * HOUR
    await counted(db, hour)
    await roll_up(db)
    await counted(db, hour - MINUTE, count=3)
    await counted(db, await this_hour(db))
    await roll_up(db)
    assert (await counts(db, "hour"))[hour - HOUR] == 3
    assert sum((await counts(db, "day")).values()) == 5


async def test_days_without_a_leader_are_caught_up_with(db: Database) -> None:
    hour = await this_hour(db)
    for back in range(6):
        await counted(db, hour - back * DAY)
    await roll_up(db)
    assert len(await counts(db, "hour")) == 6
    assert sum((await counts(db, "day")).values()) == 6


async def test_minutes_past_their_time_go_and_what_was_made_of_them_stays(db: Database) -> None:
    old = await this_hour(db) - MINUTES_KEPT - HOUR
    young = await this_hour(db) - MINUTES_KEPT + HOUR
    for minute in range(3):
        await counted(db, old + minute * MINUTE)
        await counted(db, young + minute * MINUTE)
    for _ in range(2):
        await roll_up(db)
    assert set(await counts(db, "minute")) == {young + minute * MINUTE for minute in range(3)}
    assert await counts(db, "hour") == {old: 3, young: 3}
    assert sum((await counts(db, "day")).values()) == 6


async def test_hours_past_their_time_go_and_days_stay_for_ever(db: Database) -> None:
    old = (await this_hour(db)).replace(hour=0) - HOURS_KEPT - DAY
    await counted(db, old)
    await counted(db, old - 900 * DAY)
    for _ in range(2):
        await roll_up(db)
    assert await counts(db, "hour") == {}
    assert await counts(db, "day") == {old: 1, old - 900 * DAY: 1}


async def test_of_two_leaders_at_once_one_rolls_up(db: Database) -> None:
    await counted(db, await this_hour(db))
    async with db.transaction() as tx:
        assert await metric_store.is_alone(tx, LOCK)
        await roll_up(db)
        assert await of_width(db, "hour") == []
    await roll_up(db)
    assert len(await of_width(db, "hour")) == 1


async def test_passes_and_flushes_at_once_lose_nothing(db: Database) -> None:
    hour = await this_hour(db)
    flushes = [counted(db, hour - back * MINUTE) for back in range(5) for _ in range(4)]
    await asyncio.gather(*flushes, *(roll_up(db) for _ in range(5)))
    await roll_up(db)
    assert sum((await counts(db, "hour")).values()) == 20


async def test_numbers_of_flushes_are_forgotten_when_none_can_be_sent_again(db: Database) -> None:
    await run(
        db,
        "INSERT INTO metric_flushes SELECT gen_random_uuid(), n, now() - n * interval '1 hour'"
        " FROM generate_series(1, 6) AS n",
    )
    await roll_up(db)
    assert sorted(row["sequence"] for row in await table(db, "metric_flushes")) == [1, 2]
