"""A tick happens once, with its jobs, whoever leads and however many believe that they do."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations import tick_store
from storyshelf.operations.leader import LEASE_FOR, DatabaseLease, Leader
from storyshelf.operations.periodic import Enqueues, Pass, Scheduler, Task, enqueue_due
from storyshelf.operations.ticks import Due, tick_at
from storyshelf.queue.job import NewJob
from tests.fakes import FakeClock
from tests.operations.leads import MemoryLease, Row, taken
from tests.queue.builders import a_job, run, table

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def two_jobs(_tick: datetime) -> list[NewJob]:
    return [a_job(), a_job()]


EACH_DAY = Enqueues("each day", DAY, two_jobs)


async def ticks(db: Database) -> list[Any]:
    return [(row["task"], row["skipped"], row["term"]) for row in await table(db, "ticks")]


async def test_a_tick_is_written_with_its_jobs(db: Database) -> None:
    term = await taken(db)
    await enqueue_due(db, EACH_DAY, term)
    assert await ticks(db) == [("each day", 0, term)]
    assert len(await table(db, "jobs")) == 2


async def test_the_same_tick_is_not_run_again(db: Database) -> None:
    term = await taken(db)
    for _ in range(3):
        await enqueue_due(db, EACH_DAY, term)
    assert len(await ticks(db)) == 1
    assert len(await table(db, "jobs")) == 2


async def test_the_jobs_are_given_the_tick(db: Database) -> None:
    given: list[datetime] = []

    def jobs(tick: datetime) -> list[NewJob]:
        given.append(tick)
        return []

    await enqueue_due(db, Enqueues("each day", DAY, jobs), await taken(db))
    assert given == [tick_at(SystemClock().now(), DAY)]


async def test_of_two_that_run_one_tick_in_the_same_moment_one_does(db: Database) -> None:
    term = await taken(db)
    due = Due(tick_at(SystemClock().now(), DAY))
    async with db.transaction() as first:
        assert await tick_store.write_tick(first, "each day", due, term)
        second = asyncio.create_task(enqueue_due(db, EACH_DAY, term))
        while not await waits_for_a_lock(db):
            assert not second.done()
    await second
    assert len(await ticks(db)) == 1
    assert await table(db, "jobs") == []


async def test_many_schedulers_at_once_enqueue_one_ticks_jobs(db: Database) -> None:
    term = await taken(db)
    await asyncio.gather(*(enqueue_due(db, EACH_DAY, term) for _ in range(6)))
    assert len(await table(db, "jobs")) == 2


async def test_a_leader_whose_term_is_over_writes_nothing(db: Database) -> None:
    deposed = await taken(db, "ann")
    await taken(db, "bob")
    await enqueue_due(db, EACH_DAY, deposed)
    assert await ticks(db) == []
    assert await table(db, "jobs") == []


async def test_who_believes_in_its_lead_by_a_clock_that_stood_still_enqueues_nothing(
    db: Database,
) -> None:
    stolen = FakeClock()
    leader = Leader(DatabaseLease(db, "ann"), stolen, lambda: 0.0)
    leading = asyncio.create_task(leader.run_forever())
    await stolen.advance(1)
    while not leader.is_leading:
        await stolen.settle()
    newest = await taken(db, "bob")
    assert leader.is_leading  # as long as its machine is paused
    scheduler = Scheduler(db, leader, stolen, lambda: 0.0, [EACH_DAY])
    await scheduler.run_once(EACH_DAY)
    assert await table(db, "jobs") == []
    await enqueue_due(db, EACH_DAY, newest)
    assert [term for _, _, term in await ticks(db)] == [newest]
    leading.cancel()
    await asyncio.wait([leading])


async def test_a_tick_whose_jobs_cannot_be_enqueued_is_not_taken_as_run(db: Database) -> None:
    def refuse(_tick: datetime) -> list[NewJob]:
        raise LookupError

    term = await taken(db)
    with pytest.raises(LookupError):
        await enqueue_due(db, Enqueues("each day", DAY, refuse), term)
    assert await ticks(db) == []
    await enqueue_due(db, EACH_DAY, term)
    assert len(await table(db, "jobs")) == 2


async def test_ten_thousand_missed_minutes_become_one_row_that_counts_them(db: Database) -> None:
    term = await taken(db)
    each_minute = Enqueues("each minute", MINUTE, two_jobs)
    async with db.transaction() as tx:
        now = (await tick_store.look(tx, "each minute")).now
        ago = Due(tick_at(now, MINUTE) - 10_001 * MINUTE)
        await tick_store.write_tick(tx, "each minute", ago, term)
    await enqueue_due(db, each_minute, term)
    (first, second) = await table(db, "ticks")
    assert first["skipped"] == 0
    assert second["skipped"] in (10_000, 10_001)  # a minute may have passed
    assert len(await table(db, "jobs")) == 2


async def test_old_ticks_are_forgotten_but_for_the_latest_of_each_task(db: Database) -> None:
    term, now = await taken(db), SystemClock().now()
    async with db.transaction() as tx:
        for task, age in (("a", 3 * DAY), ("a", 2 * DAY), ("b", DAY)):
            await tick_store.write_tick(tx, task, Due(now - age), term)
    await run(db, "UPDATE ticks SET ran_at = ran_at - interval '9 days'")
    async with db.transaction() as tx:
        await tick_store.forget_ticks(tx, timedelta(days=5))
    assert [(row["task"], row["tick"]) for row in await table(db, "ticks")] == [
        ("a", now - 2 * DAY),
        ("b", now - DAY),
    ]


class Counted:
    """A pass that counts how often it was run, and fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.runs = 0
        self.failures = failures

    async def run(self) -> None:
        self.runs += 1
        if self.runs <= self.failures:
            raise TimeoutError

    def each(self, every: timedelta) -> Pass:
        return Pass("counted", every, self.run)


class Office:
    """One who leads, and a scheduler, by a manual clock."""

    def __init__(self, db: Database, *doings: Task) -> None:
        self.clock = FakeClock()
        self.row = Row(self.clock)
        leader = Leader(MemoryLease(self.row, "ann"), self.clock, lambda: 0.0)
        scheduler = Scheduler(db, leader, self.clock, lambda: 0.0, doings)
        self.tasks = [asyncio.create_task(each.run_forever()) for each in (leader, scheduler)]

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)


async def test_a_pass_begins_with_the_next_tick_and_then_keeps_its_pace(db: Database) -> None:
    counted = Counted()
    office = Office(db, counted.each(MINUTE))
    await office.clock.advance(59)
    assert counted.runs == 0
    await office.clock.advance(1 + 9 * 60)
    await office.close()
    assert counted.runs == 10


async def test_who_does_not_lead_runs_nothing(db: Database) -> None:
    counted = Counted()
    office = Office(db, counted.each(MINUTE))
    office.row.holder, office.row.term, office.row.expires_at = "bob", 1, 1e9
    await office.clock.advance(600)
    await office.close()
    assert counted.runs == 0


async def test_the_trust_in_the_lead_ends_the_passes_too(db: Database) -> None:
    counted = Counted()
    office = Office(db, counted.each(MINUTE))
    await office.clock.advance(60)
    office.row.failure = OSError("the line is cut")
    await office.clock.advance(10 * LEASE_FOR)
    await office.close()
    assert counted.runs == 1


async def test_a_pass_that_fails_is_run_again_and_keeps_no_other_one(db: Database) -> None:
    failing, other = Counted(failures=2), Counted()
    office = Office(db, failing.each(MINUTE), other.each(MINUTE))
    await office.clock.advance(180)
    await office.close()
    assert (failing.runs, other.runs) == (3, 3)


async def test_jobs_are_enqueued_by_the_leader_on_its_way(db: Database) -> None:
    term = await taken(db)
    office = Office(db, EACH_DAY)
    office.row.term = term - 1  # the next one to lead has the term that the database knows
    await office.clock.advance(DAY)
    while not await table(db, "jobs"):
        await office.clock.settle()
    await office.close()
    assert await ticks(db) == [("each day", 0, term)]


async def waits_for_a_lock(db: Database) -> bool:
    async with db.transaction() as tx:
        found = await tx.connection.exec_driver_sql(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database())"
        )
        return bool(found.scalar_one())
