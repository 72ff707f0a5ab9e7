"""Alarms are counted by name, and show what was said of them last."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from storyshelf.db.engine import Database
from storyshelf.operations.alarm_store import Alarm, alarms, lower_alarm, raise_alarm
from tests.queue.builders import run


async def raised(db: Database, name: str, detail: Mapping[str, Any], times: int = 1) -> None:
    async with db.transaction() as tx:
        await raise_alarm(tx, name, detail, times)


async def found(db: Database) -> dict[str, Alarm]:
    async with db.transaction() as tx:
        return {alarm.name: alarm for alarm in await alarms(tx)}


async def test_an_alarm_counts_how_often_and_keeps_what_was_said_last(db: Database) -> None:
    await raised(db, "audit_repairs", {"build": 1})
    await raised(db, "audit_repairs", {"build": 2}, times=3)
    alarm = (await found(db))["audit_repairs"]
    assert (alarm.count, alarm.detail) == (4, {"build": 2})
    assert alarm.first_at <= alarm.last_at


async def test_the_latest_alarm_comes_first(db: Database) -> None:
    for name in ("a", "b", "c"):
        await raised(db, name, {})
    await run(db, "UPDATE alarms SET last_at = now() + interval '1 hour' WHERE name = 'b'")
    assert list(await found(db)) == ["b", "c", "a"]


async def test_one_that_is_lowered_is_gone_and_begins_anew(db: Database) -> None:
    await raised(db, "lane_unserved", {}, times=7)
    async with db.transaction() as tx:
        await lower_alarm(tx, "lane_unserved")
    assert await found(db) == {}
    await raised(db, "lane_unserved", {})
    assert (await found(db))["lane_unserved"].count == 1


async def test_a_time_in_its_detail_is_said_as_text(db: Database) -> None:
    await raised(db, "old_transaction", {"since": datetime(2030, 1, 1, tzinfo=UTC)})
    assert (await found(db))["old_transaction"].detail == {"since": "2030-01-01 00:00:00+00:00"}
