"""A process that may lead: the product's office, lease and figures, all of it ten times as fast."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import SystemRandom
from uuid import uuid4

import structlog

from bench.chaos.work import plain_job
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.accumulator import Accumulator, Batch
from storyshelf.operations.flush import Flush
from storyshelf.operations.leader import LEASE_FOR, DatabaseLease, Leader
from storyshelf.operations.office import Office
from storyshelf.operations.periodic import Enqueues, Pass, Scheduler
from storyshelf.operations.queue_upkeep import forget_history
from storyshelf.operations.rollup import roll_up
from storyshelf.queue.job import AttemptEnded, NewJob

TIMES_AS_FAST = 10
LEAD_S = LEASE_FOR.total_seconds() / TIMES_AS_FAST
EVERY = timedelta(seconds=1)
TICKED = "chaos"  # the task that enqueues
KEPT = timedelta(days=1)  # of ended jobs; what is to be forgotten is older, everything else young
FORGOTTEN_AT_ONCE = 20  # so that a kill comes between two pages as often as into one
DRAINED = "chaos.drained"  # logged with how many attempts were counted before, and with this flush

log = structlog.get_logger()


@dataclass(slots=True)
class HurriedClock(SystemClock):
    """A clock by which a minute takes six seconds; the wall's time is the machine's."""

    def monotonic(self) -> float:
        """See Clock."""
        return TIMES_AS_FAST * SystemClock.monotonic(self)

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        await SystemClock.sleep(self, seconds / TIMES_AS_FAST)

    async def wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        """See Clock."""
        return await SystemClock.wait_for(self, event, seconds / TIMES_AS_FAST)


def office_of(db: Database, name: str) -> Office:
    """Return the office, whose tasks come each second: they enqueue, roll up and forget."""
    draw = SystemRandom().random
    lease = DatabaseLease(db, name, lease_for=timedelta(seconds=LEAD_S))
    leader = Leader(lease, HurriedClock(), draw)
    tasks = (
        Enqueues(TICKED, EVERY, lambda tick: [job_of(tick)]),
        Pass("metrics", EVERY, lambda: roll_up(db)),
        Pass("history", EVERY, lambda: forget_history(db, KEPT, FORGOTTEN_AT_ONCE)),
    )
    return Office(leader, Scheduler(db, leader, SystemClock(), draw, tasks))


def job_of(tick: datetime) -> NewJob:
    """Return the tick's one job."""
    job = plain_job(1, 0)
    return NewJob(job.kind, job.lane, {**job.payload, TICKED: tick.isoformat()}, max_attempts=50)


class ToldAccumulator(Accumulator):
    """An accumulator that says in the log what has been counted by the database for sure."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        super().__init__(monotonic)
        self._handed = 0

    def drain(self) -> Batch:
        """Hand out what waits: what was before has been counted, else it would have come back."""
        batch = super().drain()
        sure = self._handed
        self._handed += _attempts(batch)
        log.info(DRAINED, sure=sure, handed=self._handed)
        return batch

    def merge_back(self, batch: Batch) -> None:
        """Take back what could not be flushed."""
        self._handed -= _attempts(batch)
        super().merge_back(batch)


class Counting:
    """What the process counts of its attempts, handed on each second."""

    def __init__(self, db: Database) -> None:
        clock = HurriedClock()
        self._accumulator = ToldAccumulator(clock.monotonic)
        self._flush = Flush(db, self._accumulator, clock, nonce=uuid4())

    def observe(self, ended: AttemptEnded) -> None:
        """Count an attempt."""
        self._accumulator.observe(ended)

    @asynccontextmanager
    async def handing_on(self) -> AsyncIterator[None]:
        """Hand on what is counted while the block lasts, and the rest at its end."""
        handing = asyncio.ensure_future(self._flush.run_forever())
        try:
            yield
        finally:
            handing.cancel()
            await asyncio.wait([handing])
            await self._flush.flush_last()
            self._accumulator.drain()  # nothing is left: it says so


def _attempts(batch: Batch) -> int:
    return sum(sums.count for sums in batch.values())
