"""Tidying as a job: enqueued once, done by a consumer, and given up between two steps."""

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from consumer.kinds.maintain import TidyHandler
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.retention import Limits
from storyshelf.operations.sweep import alone
from storyshelf.operations.tidy import House
from storyshelf.operations.tidy_job import MAINTAIN_LANE, TIDY, tidy_job
from storyshelf.queue import store as queue
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job_kind import JobKinds
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.local_sweep import LocalSweeper
from tests.builds.facts import read
from tests.builds.hand import Hand, a_hand
from tests.operations.house import GRACE, a_day_passes, names_in
from tests.queue.builders import ANN, enqueued, table

RED = {"a--one": "red", "b--two": "red"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    hand = await a_hand(db, LocalBlobs(tmp_path))
    for look in (RED, {**RED, "c--new": "green"}, RED):
        await hand.run(look)
    await a_day_passes(hand, tmp_path)
    return hand


@pytest.fixture
def house(hand: Hand, tmp_path: Path) -> House:
    return House(hand.db, hand.kinds, LocalSweeper(tmp_path), Limits(builds=1, days=1), GRACE)


def a_side(house: House) -> ConsumerSide:
    handler = TidyHandler(house, SystemClock())
    kinds = [kind.handled(handler) if kind.name == TIDY else kind for kind in every_kind()]
    options = ConsumerOptions(ANN, {MAINTAIN_LANE: 1}, SystemClock(), lambda: 0.0)
    return ConsumerSide(house.db, JobKinds(kinds), options)


async def ended(db: Database) -> list[tuple[str, str]]:
    return [
        (row["kind"], row["state"]) for row in await table(db, "jobs_done") if row["kind"] == TIDY
    ]


async def run_until_ended(side: ConsumerSide, db: Database) -> None:
    running = asyncio.create_task(side.run_forever())
    while not await ended(db):
        assert not running.done()
    await side.stop(budget_s=5)
    await running


async def test_a_consumer_tidies_up(house: House, hand: Hand, tmp_path: Path) -> None:
    await enqueued(hand.db, tidy_job())
    await run_until_ended(a_side(house), hand.db)
    assert await ended(hand.db) == [(TIDY, "done")]
    assert len(await read(hand, "SELECT id FROM builds")) < 3
    assert names_in(tmp_path) == {row["key"] for row in await read(hand, "SELECT key FROM blobs")}


async def test_while_another_process_is_at_it_nothing_is_done_and_nothing_fails(
    house: House, hand: Hand
) -> None:
    await enqueued(hand.db, tidy_job())
    async with alone(hand.db):
        await run_until_ended(a_side(house), hand.db)
    assert await ended(hand.db) == [(TIDY, "done")]
    assert len(await read(hand, "SELECT id FROM builds")) == 3


async def test_of_two_ticks_that_nobody_took_one_job_waits(hand: Hand) -> None:
    ids = await enqueued(hand.db, tidy_job())
    assert await enqueued(hand.db, tidy_job()) == ()
    assert len(ids) == 1


class Hangs(LocalSweeper):
    """A storage whose sweep begins and does not end."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.entered = asyncio.Event()

    async def end_unfinished(self, before: datetime) -> None:
        self.entered.set()
        await asyncio.Event().wait()


async def test_a_cancel_stops_it_between_two_steps_and_frees_the_lock(
    house: House, hand: Hand, tmp_path: Path
) -> None:
    (job_id,) = await enqueued(hand.db, tidy_job())
    hanging = Hangs(tmp_path)
    side = a_side(replace(house, blobs=hanging))
    running = asyncio.create_task(side.run_forever())
    await hanging.entered.wait()
    async with hand.db.transaction() as tx:
        await queue.cancel_jobs(tx, [job_id])
    while not await ended(hand.db):
        assert not running.done()
    assert await ended(hand.db) == [(TIDY, "cancelled")]
    async with alone(hand.db) as lock:
        assert lock is not None
    await side.stop(budget_s=5)
    await running
