"""A process that may lead has an office, which lets go of the lead when it is closed."""

import asyncio
from datetime import timedelta

import pytest

from storyshelf.db.engine import Database
from storyshelf.operations.leader import Leader
from storyshelf.operations.office import Office
from storyshelf.operations.periodic import Pass, Scheduler
from storyshelf.settings import Settings
from storyshelf.wiring import offices_of, process_name
from tests.fakes import FakeClock
from tests.operations.leads import MemoryLease, Row


@pytest.fixture
async def database() -> Database:
    """A database that nobody asks anything."""
    return Database("postgresql://nobody@127.0.0.1:1/nothing")


async def test_a_closed_office_lets_the_next_one_lead_and_does_no_more(database: Database) -> None:
    clock, runs = FakeClock(), list[float]()
    row = Row(clock)

    async def run() -> None:
        runs.append(clock.monotonic())

    leader = Leader(MemoryLease(row, "ann"), clock, lambda: 0.0)
    each_minute = [Pass("each minute", timedelta(minutes=1), run)]
    office = Office(leader, Scheduler(database, leader, clock, lambda: 0.0, each_minute))
    working = asyncio.create_task(office.run_forever())
    await clock.advance(120)
    working.cancel()
    await asyncio.wait([working])
    assert runs == [60, 120]
    assert await MemoryLease(row, "bob").take() == 2
    await clock.advance(600)
    assert runs == [60, 120]


async def test_a_process_that_may_not_lead_has_no_office(database: Database) -> None:
    clock = FakeClock()
    assert offices_of(Settings(leads=False), database, clock, "ann") == ()
    assert len(offices_of(Settings(), database, clock, "ann")) == 1


def test_the_name_of_a_process_is_of_one_run_alone() -> None:
    assert process_name() != process_name()
