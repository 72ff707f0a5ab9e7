"""The life of jobs from enqueue to settle, on the real database and the machine's own time."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, ConsumerId
from storyshelf.queue import store
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKind, JobKinds, Settling, Work
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.tally import Tally
from storyshelf.queue.wakeup import CHANNEL, HEARD_EVERY_S
from tests.queue.builders import ANN, a_job, enqueued, let_deferred_jobs_be_due, run, table, until
from tests.queue.kinds import Told, a_kind

NO_POLLING = Cadence(idle_s=3600, active_s=3600)  # what starts in time was started by a hint


def a_side(db: Database, kind: JobKind, **changes: Any) -> ConsumerSide:
    options = ConsumerOptions(
        consumer_id=ANN, places={"capture@x": 4}, clock=SystemClock(), draw=lambda: 0.0
    )
    return ConsumerSide(db, JobKinds([kind]), replace(options, **changes))


@asynccontextmanager
async def at_work(side: ConsumerSide) -> AsyncIterator[ConsumerSide]:
    task = asyncio.create_task(side.run_forever())
    yield side
    await side.stop(budget_s=5)
    await task


class Gate:
    """A handler that works until the test opens the gate."""

    def __init__(self) -> None:
        self.entered = 0
        self.gate = asyncio.Event()

    async def __call__(self, work: Work, parsed: Mapping[str, Any]) -> Any:
        self.entered += 1
        await self.gate.wait()
        return parsed["shard"]


async def test_a_job_goes_from_enqueue_to_its_effects(db: Database) -> None:
    told = Told()
    async with at_work(a_side(db, a_kind(told))):
        (job_id,) = await enqueued(db, a_job())
        await until(lambda: told.applied == [(job_id, "a result")])
    (done,) = await table(db, "jobs_done")
    assert (done["id"], done["state"], done["consumer_id"]) == (job_id, "done", ANN)


async def test_a_local_enqueue_starts_without_a_poll(db: Database) -> None:
    told = Told()
    async with at_work(a_side(db, a_kind(told), cadence=NO_POLLING)) as side:
        await until(lambda: side.hints.is_connected and side.fetcher.running == 0)
        await enqueued(db, *[a_job()] * 20)
        await until(lambda: len(told.applied) >= 20)


async def test_a_hint_from_another_process_starts_work_without_a_poll(
    database_url: str, db: Database
) -> None:
    told = Told()
    elsewhere = Database(database_url)
    other = a_side(elsewhere, a_kind(Told()), places={})
    async with (
        at_work(a_side(db, a_kind(told), cadence=NO_POLLING)) as side,
        at_work(other),
    ):
        await until(lambda: side.hints.is_connected and other.hints.is_connected)
        await enqueued(elsewhere, a_job())
        await until(lambda: len(told.applied) >= 1)
    await elsewhere.close()


async def test_with_every_hint_lost_the_poll_finds_the_work(db: Database) -> None:
    told = Told()
    side = a_side(db, a_kind(told), cadence=Cadence(idle_s=0.05, active_s=0.05))
    async with at_work(side):
        db.announce = lambda _words: None
        await enqueued(db, a_job())
        await until(lambda: len(told.applied) >= 1)


async def test_a_cancel_elsewhere_stops_the_handler_by_its_hint(
    database_url: str, db: Database
) -> None:
    told, handler = Told(), Gate()
    elsewhere = Database(database_url)
    times = LeaseTimes(check_every_s=3600)
    other = a_side(elsewhere, a_kind(Told()), places={})
    async with (
        at_work(a_side(db, a_kind(told, handler), times=times)) as side,
        at_work(other),
    ):
        await until(lambda: side.hints.is_connected and other.hints.is_connected)
        (job_id,) = await enqueued(db, a_job(build_id=BuildId(1)))
        await until(lambda: handler.entered == 1)
        async with elsewhere.transaction() as tx:
            await store.cancel_build_jobs(tx, BuildId(1), older_than_generation=None)
        await until(lambda: len(told.endings) == 1)
    await elsewhere.close()
    assert [(each, outcome) for each, outcome, _ in told.endings] == [(job_id, Outcome.CANCELLED)]


async def test_a_job_of_a_dead_consumer_is_taken_over(db: Database) -> None:
    told = Told()
    await enqueued(db, a_job())
    async with db.transaction() as tx:
        await store.claim(tx, ConsumerId("dead"), {"capture@x": 1}, LeaseTimes().lease_for)
    await run(db, "UPDATE jobs SET lease_expires_at = now() - interval '1 second'")
    async with at_work(a_side(db, a_kind(told))):
        await until(lambda: len(told.applied) >= 1)
    assert [row["outcome"] for row in await table(db, "job_attempts")] == ["lost", "completed"]


async def test_a_stop_gives_back_what_is_unfinished_and_the_next_one_ends_it(
    db: Database,
) -> None:
    told, handler = Told(), Gate()
    side = a_side(db, a_kind(told, handler))
    task = asyncio.create_task(side.run_forever())
    await enqueued(db, a_job(), a_job())
    await until(lambda: handler.entered == 2)
    await side.stop(budget_s=0)
    await task
    rows = await table(db, "jobs")
    assert [(row["state"], row["charged"]) for row in rows] == [("queued", 0)] * 2
    async with at_work(a_side(db, a_kind(told))):
        await until(lambda: len(told.applied) >= 2)


async def test_many_jobs_with_retries_each_end_exactly_once(db: Database) -> None:
    async def fails_at_first(work: Work, parsed: Mapping[str, Any]) -> Any:
        if work.lease.attempt == 1 and parsed["shard"] % 3 == 0:
            raise TimeoutError
        return parsed["shard"]

    told = Told()
    kind = a_kind(told, fails_at_first, settling=Settling.TOGETHER)
    await enqueued(db, *[a_job(payload={"shard": number}) for number in range(60)])
    async with at_work(a_side(db, kind)):
        while await table(db, "jobs"):
            await let_deferred_jobs_be_due(db)
    assert sorted(result for _, result in told.applied) == list(range(60))
    assert len(await table(db, "jobs_done")) == 60
    assert len(await table(db, "job_attempts")) == 80


async def test_a_flood_of_hints_from_anybody_has_a_consumer_look_no_more_than_it_may(
    db: Database,
) -> None:
    tally = Tally()
    side = a_side(db, a_kind(Told()), cadence=NO_POLLING, tally=tally)
    async with at_work(side):
        await until(lambda: side.hints.is_connected and side.fetcher.running == 0)
        looked, began_at = tally.claims, time.monotonic()
        anybody = await db.direct_connection()
        while time.monotonic() - began_at < 2.0:
            await anybody.execute(f"NOTIFY {CHANNEL}, 'work'")
        looked, took_s = tally.claims - looked, time.monotonic() - began_at
        await anybody.close()
    assert tally.hints_heard > 2 * looked
    assert looked <= took_s / HEARD_EVERY_S + 2
