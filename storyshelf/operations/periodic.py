"""What the leader does every so often: look after things itself, or have jobs enqueued for it.

A pass does its work in transactions of its own and is harmless twice. A tick that enqueues is one
row, written in the transaction of its jobs: whoever comes second, or has lost the lead, writes
neither. Each begins with the next tick, never at once: a leader that has just booted has other
work, and one that boots again and again must not do everything each time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.operations import tick_store as store
from storyshelf.operations.leader import Leader
from storyshelf.operations.ticks import due, until_next_s
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob

SPREAD_S = 5.0  # what has the same interval does not all begin in the same moment

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Pass:
    """Something that the leader does itself; what is returned is not looked at."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Enqueues:
    """Jobs that are enqueued once a tick, whoever leads; `jobs` is given the tick."""

    name: str
    every: timedelta
    jobs: Callable[[datetime], Sequence[NewJob]]


Task = Pass | Enqueues


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Runs each task on its own loop, while this process leads."""

    db: Database
    leader: Leader
    clock: Clock
    draw: Callable[[], float]
    tasks: Sequence[Task]

    async def run_forever(self) -> None:
        """Run what is due, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for task in self.tasks:
                group.create_task(self._run_forever(task))

    async def _run_forever(self, task: Task) -> None:
        while True:
            spread_s = min(SPREAD_S, task.every.total_seconds() / 10) * self.draw()
            await self.clock.sleep(until_next_s(self.clock.now(), task.every) + spread_s)
            await self.run_once(task)

    async def run_once(self, task: Task) -> None:
        """Run the task if this process leads; after a failure the next tick tries again."""
        term = self.leader.term
        if term is None:
            return
        try:
            match task:
                case Pass():
                    await task.run()
                case Enqueues():
                    await enqueue_due(self.db, task, term)
        except Exception as error:  # noqa: BLE001  # one task must not keep the others
            log.warning("periodic.failed", task=task.name, error=repr(error))


async def enqueue_due(db: Database, task: Enqueues, term: int) -> None:
    """Write the tick that is due with its jobs, in the name of the term; else do nothing."""
    async with db.transaction() as tx:
        at = await store.look(tx, task.name)
        found = due(at.last, at.now, task.every)
        if found is None or not await store.write_tick(tx, task.name, found, term):
            return
        await queue.enqueue(tx, task.jobs(found.tick))
    log.info("tick.enqueued", task=task.name, tick=found.tick.isoformat(), skipped=found.skipped)
