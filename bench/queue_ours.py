"""Our side of the queue bench: the consumer's claiming half with everything on, as a process.

Lease keeper, hints, expiry timer, metrics and the logging of a production consumer, on a job kind
that does nothing. It has no effects, as the peers' jobs have none, so that its settle is one
statement; a capture's closes its shard in the same transaction and costs more.
"""

import asyncio
import random  # noqa: TID251  # this process is put together here
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import asyncpg

from bench.peers.lines import DEEDS, WARM_UP, Started, answer, deeds_of, spaced, timed
from storyshelf import logs
from storyshelf.client.version import own_version
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database, Tx
from storyshelf.db.line import Line
from storyshelf.ids import ConsumerId, ProjectId
from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.flush import Flush
from storyshelf.queue import store
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import Completed, EndedJob, NewJob, Outcome, Payload
from storyshelf.queue.job_kind import JobKind, JobKinds, Settling, Work
from storyshelf.queue.retry import RetryPolicy
from storyshelf.queue.slots import RESERVED_ONE_IN
from storyshelf.queue.wakeup import HintLine

ANY_LEFT = "SELECT EXISTS (SELECT FROM jobs)"
CLEAR = "TRUNCATE jobs, jobs_done, job_attempts, lane_tags, job_metrics, metric_flushes"
KIND, LANE = "noop", "noop"
STOP_S = 5.0
LEASE_FOR = timedelta(seconds=60)
PROJECT = ProjectId(1)


class Ours:
    """One process of it."""

    async def prepare(self, url: str) -> dict[str, Any]:
        """Remember where the database is; its schema is there already."""
        self.url = url
        logs.configure("info", "text")  # as production has it
        return {"version": own_version()}

    async def clear(self) -> dict[str, Any]:
        """Empty the tables."""
        async with self._watching() as connection:
            await connection.execute(CLEAR)
        return {}

    async def enqueue(self, jobs: int) -> dict[str, Any]:
        """Enqueue so many in one statement."""
        async with self._sending() as line:
            seconds = await timed(lambda: _enqueue(line, [a_job()] * jobs), 1)
        return {"seconds": seconds}

    async def enqueue_one_by_one(self, jobs: int, way: str = "line") -> dict[str, Any]:
        """Enqueue so many, each in a durable transaction of its own; the pool is the other way."""
        async with self._sending() as line:
            db = Database(self.url)
            send = partial(_enqueue, line) if way == "line" else partial(_enqueue_in_pool, db)
            await timed(lambda: send([a_job()]), WARM_UP)
            seconds = await timed(lambda: send([a_job()]), jobs)
            await db.close()
        return {"seconds": seconds}

    async def drain(self, jobs: int, concurrency: int) -> dict[str, Any]:
        """Work off what is there; the seconds from the first start to the last settle."""
        async with self._watching() as watching:
            await self.work(concurrency, jobs)
            seconds = await self.started.until_settled(lambda: watching.fetchval(ANY_LEFT))
            await self.rest()
        return {"seconds": seconds}

    async def work(self, concurrency: int, jobs: int = 1) -> dict[str, Any]:
        """Start a consumer."""
        self.started = Started(jobs)
        self.db, counts = Database(self.url), Accumulator(SystemClock().monotonic)
        options = _options(concurrency, counts)
        self.side = ConsumerSide(self.db, JobKinds([self._kind()]), options)
        self.flush = Flush(self.db, counts, SystemClock(), nonce=uuid4())
        self.running = asyncio.ensure_future(self.side.run_forever())
        self.flushing = asyncio.ensure_future(self.flush.run_forever())
        return {}

    async def rest(self) -> dict[str, Any]:
        """Stop it; return when the handlers started."""
        await self.side.stop(STOP_S)
        await self.running
        await self.flush.flush_last()
        self.flushing.cancel()
        await asyncio.wait([self.flushing])
        await self.db.close()
        return {"started": self.started.at}

    async def send(self, times: int, every_s: float) -> dict[str, Any]:
        """Enqueue one now and then, as a server does."""
        async with self._sending() as line:
            moments = await spaced(lambda: _enqueue(line, [a_job()]), times, every_s)
        return {"moments": moments}

    async def claim(self, times: int, size: int) -> dict[str, Any]:
        """Claim so many at a time, and settle them."""
        db = Database(self.url)
        line = db.line()  # as a consumer does
        for _ in range(times):
            claimed = await store.claim(line, ConsumerId("bench"), {LANE: size}, LEASE_FOR)
            assert len(claimed.leases) == size, f"there were {len(claimed.leases)} jobs to claim"
            await store.settle(line, [(lease, Completed()) for lease in claimed.leases])
        await line.close()
        await db.close()
        return {}

    def _kind(self) -> JobKind:
        async def handle(_work: Work, _parsed: Any) -> None:
            self.started.note()

        return no_op_kind().handled(handle)

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        connection = await asyncpg.connect(self.url)
        try:
            yield connection
        finally:
            await connection.close()

    @asynccontextmanager
    async def _sending(self) -> AsyncIterator[Line]:
        """Open what lone jobs are enqueued with, and the line that hints go out on."""
        db = Database(self.url)
        hints = HintLine(db.direct_connection, SystemClock(), on_word=lambda _word: None)
        db.announce = hints.send
        line = db.line()
        hinting = asyncio.ensure_future(hints.run_forever())
        while not hints.is_connected:
            await SystemClock().sleep(0.001)
        try:
            yield line
        finally:
            hinting.cancel()
            await asyncio.wait([hinting])
            await line.close()
            await db.close()


def no_op_kind() -> JobKind:
    """Return a kind that does nothing, and settles in company."""
    return JobKind(
        name=KIND,
        lane=LANE,
        parse=_as_it_is,
        apply=None,  # it has no effects, as the peers' jobs have none
        ended=_nothing_ended,
        retry=RetryPolicy(),
        settling=Settling.TOGETHER,
    )


def a_job() -> NewJob:
    """Return a job of the one project there is."""
    return NewJob(kind=KIND, lane=LANE, payload={"n": 1}, project_id=PROJECT)


async def _enqueue(line: Line, jobs: Sequence[NewJob]) -> None:
    await store.enqueue(line, jobs)


async def _enqueue_in_pool(db: Database, jobs: Sequence[NewJob]) -> None:
    async with db.transaction() as tx:
        await store.enqueue(tx, jobs)


def places_for(concurrency: int) -> int:
    """Return the places of a lane of which so many take any job; the rest is kept for people."""
    places = concurrency
    while places - places // RESERVED_ONE_IN < concurrency:
        places += 1
    return places


def _options(concurrency: int, counts: Accumulator) -> ConsumerOptions:
    return ConsumerOptions(
        consumer_id=ConsumerId("bench"),
        places={LANE: places_for(concurrency)},
        clock=SystemClock(),
        draw=random.random,
        observe=counts.observe,
    )


def _as_it_is(payload: Payload) -> Payload:
    return payload


async def _nothing_ended(
    _tx: Tx, _jobs: Sequence[EndedJob], _outcome: Outcome, _error: str
) -> None: ...


if __name__ == "__main__":
    asyncio.run(answer(deeds_of(Ours(), DEEDS)))
