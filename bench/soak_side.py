"""The processes of soak and scale: one that works steadily, one that feeds it."""

import asyncio
import random  # noqa: TID251  # this process is put together here
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bench.peers.lines import answer, deeds_of
from bench.queue_ours import no_op_kind
from storyshelf import logs
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId, ProjectId
from storyshelf.queue import store
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import NewJob, Payload
from storyshelf.queue.job_kind import JobKinds, Work
from storyshelf.queue.retry import RetryPolicy
from storyshelf.queue.wakeup import HintLine

DEEDS = ("prepare", "work", "settled", "rest", "feed", "stop_feeding")
EVERY_S = 0.1  # between two enqueues
PROJECTS = 20
RETRY = RetryPolicy(base=timedelta(seconds=1))
STOP_S = 10.0
LONG_S = 1.0
ONE_FAILS_IN, ONE_IS_LONG_IN = 20, 50  # of jobs; those that are long are to be cancelled


class FailsAtFirstError(Exception):
    """What a job that is to be tried again fails with."""


class SoakSide:
    """One process of a soak: it works, or it feeds."""

    async def prepare(self, url: str) -> dict[str, Any]:
        """Open the database."""
        logs.configure("error", "text")
        self.clock, self.fed_jobs = SystemClock(), 0
        self.db = Database(url)
        return {}

    async def work(self, name: str, places: Mapping[str, int], takes_s: float) -> dict[str, Any]:
        """Start a consumer; a job whose payload says nothing else takes `takes_s`."""
        self.usual_s = takes_s
        options = ConsumerOptions(ConsumerId(name), places, clock=self.clock, draw=random.random)
        kind = replace(no_op_kind(), retry=RETRY).handled(self._handle)
        self.options = options
        self.side = ConsumerSide(self.db, JobKinds([kind]), options)
        self.running = asyncio.ensure_future(self.side.run_forever())
        return {}

    async def settled(self) -> dict[str, Any]:
        """Return how many attempts were settled so far."""
        return {"settled": self.options.tally.settled}

    async def rest(self) -> dict[str, Any]:
        """Stop the consumer."""
        await self.side.stop(STOP_S)
        await self.running
        await self.db.close()
        return {}

    async def feed(self, jobs_per_s: float) -> dict[str, Any]:
        """Start to enqueue that many a second, and to cancel those that are long."""
        self.hints = HintLine(self.db.direct_connection, self.clock, on_word=lambda _word: None)
        self.db.announce = self.hints.send
        self.is_over = asyncio.Event()
        self.line = asyncio.ensure_future(self.hints.run_forever())
        self.feeding = asyncio.ensure_future(self._feed(round(jobs_per_s * EVERY_S)))
        return {}

    async def stop_feeding(self) -> dict[str, Any]:
        """Enqueue no more; return how many jobs were enqueued."""
        self.is_over.set()
        await self.feeding
        self.line.cancel()
        await asyncio.wait([self.line])
        await self.db.close()
        return {"fed": self.fed_jobs}

    async def _feed(self, at_once: int) -> None:
        due = self.clock.monotonic()
        earlier: Sequence[JobId] = ()
        while not self.is_over.is_set():
            jobs = [a_job(self.fed_jobs + at) for at in range(at_once)]
            async with self.db.transaction() as tx:
                ids = await store.enqueue(tx, jobs)
            self.fed_jobs += len(jobs)
            await self._cancel(earlier)
            earlier = [
                job_id
                for job_id, job in zip(ids, jobs, strict=True)
                if job_id is not None and "takes_s" in job.payload
            ]
            due += EVERY_S
            await self.clock.sleep(max(0.0, due - self.clock.monotonic()))

    async def _cancel(self, ids: Sequence[JobId]) -> None:
        if not ids:
            return
        async with self.db.transaction() as tx:
            await store.cancel_jobs(tx, ids)  # a no-op kind has nothing to be told

    async def _handle(self, work: Work, parsed: Payload) -> None:
        await self.clock.sleep(parsed.get("takes_s", self.usual_s))
        if parsed.get("fails") and work.lease.attempt == 1:
            raise FailsAtFirstError


def a_job(number: int) -> NewJob:
    """Return the job of that number: most are short, some fail at first, some are long."""
    payload: dict[str, Any] = {"n": number}
    if number % ONE_FAILS_IN == 0:
        payload["fails"] = True
    if number % ONE_IS_LONG_IN == 1:
        payload["takes_s"] = LONG_S
    return NewJob("noop", "noop", payload, project_id=ProjectId(1 + number % PROJECTS))


if __name__ == "__main__":
    asyncio.run(answer(deeds_of(SoakSide(), DEEDS)))
