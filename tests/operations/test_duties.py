"""All that a leader does works on a database as it is, and costs little where there is no work."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.db.engine import Database, Tx
from storyshelf.operations.duties import Keeping, WhileCapturing, duties
from storyshelf.operations.leader import DatabaseLease
from storyshelf.operations.periodic import Enqueues, Pass, enqueue_due
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import a_hand
from tests.operations.leads import taken
from tests.queue.builders import table

KEEPING = Keeping(jobs=timedelta(days=30), samples=timedelta())


class Counting(Database):
    """The database, counting its transactions."""

    transactions = 0

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        self.transactions += 1
        async with super().transaction() as tx:
            yield tx


@pytest.fixture
async def counting(database_url: str) -> AsyncIterator[Counting]:
    database = Counting(database_url)
    yield database
    await database.close()


async def a_minute_of(database: Database) -> None:
    """Renew the lease and run each pass as often as it is due in a minute."""
    captures = WhileCapturing(database)
    lease = DatabaseLease(database, "ann", captures.look)
    passes = [task for task in duties(database, captures, KEEPING) if isinstance(task, Pass)]
    term = await lease.take()
    assert term is not None
    for second in range(2, 61, 2):
        if second % 15 in {0, 1}:
            await lease.renew(term)
        for each in passes:
            if not timedelta(seconds=second) % each.every:
                await each.run()


async def test_every_duty_works_on_an_empty_database(db: Database) -> None:
    term = await taken(db)
    for task in duties(db, WhileCapturing(db), KEEPING):
        match task:
            case Pass():
                await task.run()
            case Enqueues():
                await enqueue_due(db, task, term)
    assert [row["kind"] for row in await table(db, "jobs")] == ["tidy"]
    assert await table(db, "alarms") == []


async def test_a_system_without_work_is_quiet(counting: Counting) -> None:
    await a_minute_of(counting)
    assert counting.transactions <= 8


async def test_a_build_that_is_captured_is_sampled_every_other_second(
    db: Database, counting: Counting, tmp_path: Path
) -> None:
    hand = await a_hand(db, LocalBlobs(tmp_path))
    build = await hand.upload(["a--one"])
    await hand.plan(build, ["a--one"])
    captures = WhileCapturing(counting)
    await captures.run()
    assert counting.transactions == 0
    async with db.transaction() as tx:
        await captures.look(tx)
    for _ in range(5):
        await captures.run()
    assert counting.transactions >= 5
    assert len(await table(db, "build_progress")) == 1


async def test_once_the_last_build_has_ended_it_is_looked_at_once_more(
    counting: Counting,
) -> None:
    captures = WhileCapturing(counting)
    captures._was_busy = True
    await captures.run()
    sampled = counting.transactions
    await captures.run()
    assert (sampled > 0, counting.transactions) == (True, sampled)


async def test_names_are_of_one_task_each(db: Database) -> None:
    names = [task.name for task in duties(db, WhileCapturing(db), KEEPING)]
    assert len(set(names)) == len(names)
