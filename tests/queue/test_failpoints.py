"""A consumer killed at each place where two things might both be lost, or both be done."""

import asyncio
import signal
import sys
from collections import Counter

import pytest

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.failpoint import Place
from storyshelf.queue.job_kind import JobKinds
from tests.queue.builders import BOB, a_job, enqueued, let_leases_run_out, run, table
from tests.queue.victim import the_kind

QUEUE_PLACES = [
    Place.AFTER_CLAIM,
    Place.AFTER_PROGRESS,
    Place.BEFORE_SETTLE,
    Place.AFTER_SETTLE,
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("place", QUEUE_PLACES)
async def test_a_consumer_killed_anywhere_costs_neither_a_job_nor_a_second_effect(
    database_url: str, db: Database, place: Place
) -> None:
    await run(db, "CREATE TABLE notes (id bigserial PRIMARY KEY, what text)")
    (job_id,) = await enqueued(db, a_job())
    assert await ended_victim(database_url, place) == -signal.SIGKILL
    await let_leases_run_out(db)
    await finish(db)
    assert [row["id"] for row in await table(db, "jobs_done")] == [job_id]
    assert Counter(row["what"] for row in await table(db, "notes"))["effect"] == 1


async def ended_victim(url: str, place: Place) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.queue.victim", url, place, stdout=asyncio.subprocess.DEVNULL
    )
    return await process.wait()


async def finish(db: Database) -> None:
    """Have a second consumer end whatever the first one left."""
    options = ConsumerOptions(
        consumer_id=BOB, places={"capture@x": 1}, clock=SystemClock(), draw=lambda: 0.0
    )
    side = ConsumerSide(db, JobKinds([the_kind()]), options)
    async with asyncio.TaskGroup() as group:
        group.create_task(side.run_forever())
        while await table(db, "jobs"):
            pass
        await side.stop(budget_s=5)
