"""A consumer process: the product's claiming side, as production has it but for the lease."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from secrets import SystemRandom
from time import monotonic
from typing import Any

import structlog
from sqlalchemy import TextClause

from bench.chaos.diary import ANSWERED
from bench.chaos.leading import Counting, office_of
from bench.chaos.work import LANES, tidying, worked_kinds
from consumer.wiring import lease_times
from storyshelf import logs
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.db.line import Line
from storyshelf.ids import ConsumerId
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import AttemptEnded
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.job_runner import Observe

LEASE_S = 6.0
CLAIM = "chaos.claim"  # logged with the time that each claim took
STOP_WITHIN_S = 5.0


log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Orders:
    """What one consumer is told at its start; it travels as JSON."""

    name: str
    url: str
    log: str
    lease_s: float = LEASE_S
    skew_s: float = 0.0  # of its wall clock; it changes sides with every reading
    network: str = ""  # the namespace it lives in; none: this one
    lanes: Mapping[str, int] = field(default_factory=lambda: dict(LANES))
    blobs: str = ""  # the folder that it tidies; none: it has no such kind
    leads: bool = False  # it may lead, and counts its attempts; without lanes it is like a server

    def as_json(self) -> dict[str, Any]:
        """Return it as it travels."""
        return asdict(self)


@dataclass(slots=True)
class SkewedClock(SystemClock):
    """A wall clock that is wrong and jumps; the monotonic one is the machine's."""

    skew_s: float

    def now(self) -> datetime:
        """See Clock."""
        self.skew_s = -self.skew_s
        return SystemClock.now(self) + timedelta(seconds=self.skew_s)


class ToldLine(Line):
    """A line that says how long its claims took."""

    async def fetch(self, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
        """See Line."""
        began = monotonic()
        rows = await super().fetch(statement, values)
        if "SKIP LOCKED" in statement.text:
            took_ms = round(1000 * (monotonic() - began), 3)
            sort = "look" if "expired AS" in statement.text else "refill"
            log.info(CLAIM, took_ms=took_ms, rows=len(rows), sort=sort)
        return rows


class ToldDatabase(Database):
    """The product's database, whose claims are timed."""

    def line(self) -> Line:
        """See Database."""
        return ToldLine(self._connection_for_line, self._tell)


def live(orders: Orders) -> None:
    """Be that consumer until told to stop."""
    logs.configure("info", "json")
    clock = SkewedClock(orders.skew_s) if orders.skew_s else SystemClock()
    asyncio.run(consume(orders, clock))


def tell(ended: AttemptEnded) -> None:
    """Log what became of the attempt; the runner has bound the job and the attempt."""
    log.info(ANSWERED, outcome=ended.outcome.value)


async def consume(orders: Orders, clock: Clock) -> None:
    """Claim and run until TERM."""
    db = ToldDatabase(orders.url, application="storyshelf-consumer")
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    try:
        async with AsyncExitStack() as more:
            observe = await _lead(db, orders, more) if orders.leads else tell
            if orders.lanes:
                await _claim(_side_of(db, orders, clock, observe), told)
            else:
                await told.wait()
    finally:
        await db.close()


def _side_of(db: Database, orders: Orders, clock: Clock, observe: Observe) -> ConsumerSide:
    options = ConsumerOptions(
        consumer_id=ConsumerId(f"{orders.name}:{os.getpid()}"),
        places=orders.lanes,
        clock=clock,
        draw=SystemRandom().random,
        times=lease_times(orders.lease_s),
        observe=observe,
    )
    also = [tidying(db, clock, Path(orders.blobs))] if orders.blobs else []
    return ConsumerSide(db, JobKinds([*worked_kinds(db, clock), *also]), options)


async def _claim(side: ConsumerSide, told: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(side.run_forever())
        await told.wait()
        await side.stop(STOP_WITHIN_S)


async def _lead(db: Database, orders: Orders, more: AsyncExitStack) -> Observe:
    """Lead when nobody else does, and count what is observed, until the stack is unwound."""
    counting = Counting(db)
    office = asyncio.ensure_future(office_of(db, f"{orders.name}:{os.getpid()}").run_forever())
    await more.enter_async_context(counting.handing_on())
    more.push_async_callback(_ended, office)

    def observe(ended: AttemptEnded) -> None:
        tell(ended)
        counting.observe(ended)

    return observe


async def _ended(office: "asyncio.Future[None]") -> None:
    office.cancel()
    await asyncio.wait([office])
