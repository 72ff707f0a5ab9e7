"""Many who enqueue and cancel under the same keys, while what they enqueue is being done."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from secrets import SystemRandom
from typing import Any

from bench.chaos.work import on_record, plain_job, plain_kinds
from bench.chaos.world import World
from bench.report import Length
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.ids import JobId, ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import NewJob, Outcome
from storyshelf.queue.job_kind import JobKinds

WRITERS = 16
PROJECTS = 5
LASTS_FOR_S = {Length.QUICK: 6.0, Length.FULL: 60.0}
KEYS = {Length.QUICK: 200, Length.FULL: 2_000}
AT_ONCE = 8  # keys in one enqueue, one in so many of which is of a single job
CANCELS = 0.3  # of what a writer does
LOOK_EVERY_S = 0.05
TWICE = """
SELECT count(*) FROM (SELECT FROM jobs WHERE dedupe_key IS NOT NULL
    GROUP BY dedupe_key HAVING count(*) > 1) AS twice
"""
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"

draw = SystemRandom()


@dataclass
class Writer:
    """One of those who enqueue and cancel, on a connection of its own, with whom it meets."""

    db: Database
    kinds: JobKinds
    project: ProjectId
    keys: int
    promised: list[JobId] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def write(self, clock: Clock, until: float) -> None:
        """Enqueue and cancel until then; an error is the scenario's end."""
        while clock.monotonic() < until:
            if self.promised and draw.random() < CANCELS:
                await self._cancel([draw.choice(self.promised[-2 * self.keys :]) for _ in range(3)])
            else:
                await self._enqueue(draw.choice([1, AT_ONCE]))

    async def _enqueue(self, jobs: int) -> None:
        """Enqueue under keys that are anybody's; in their order, as every batch of the product."""
        chosen = sorted(draw.sample(range(self.keys), jobs))
        async with self.db.transaction() as tx:
            found = await store.enqueue(tx, [self._job(number) for number in chosen])
        self.promised += [job_id for job_id in found if job_id is not None]
        self.counts["refused"] += sum(job_id is None for job_id in found)

    async def _cancel(self, ids: Sequence[JobId]) -> None:
        async with self.db.transaction() as tx:
            ended = await store.cancel_jobs(tx, ids)
            await self.kinds.ended(tx, ended, Outcome.CANCELLED, "not needed")
        self.counts["cancelled"] += len(ended)

    def _job(self, number: int) -> NewJob:
        lasts_ms = draw.choice([0, 0, 30])
        job = plain_job(number, lasts_ms)
        return replace(job, dedupe_key=f"storm:{number}", project_id=self.project)


async def keyed_storm(world: World, length: Length) -> Mapping[str, Any]:
    """Have sixteen enqueue under two thousand keys and cancel, two consumers at work meanwhile."""
    await world.consume_all("ab")
    counts: Counter[str] = Counter()
    until = world.clock.monotonic() + LASTS_FOR_S[length]
    async with (
        _writers(world, KEYS[length]) as writers,
        world.beside(_look(world, counts)),
        asyncio.TaskGroup() as group,
    ):
        for each in writers:
            group.create_task(each.write(world.clock, until))
    for each in writers:
        world.promised += each.promised
        counts += each.counts
    await world.until_empty()
    deadlocks = await world.count(DEADLOCKS)
    world.expect(deadlocks == 0, f"nobody waited in a circle: {deadlocks} deadlocks")
    world.expect(counts["twice"] == 0, f"a key was alive once at most: {counts['twice']}")
    for what in ("refused", "cancelled", "looks"):
        world.expect(counts[what], f"there was a race to be had: {what}")
    return {"jobs": len(world.promised), "deadlocks": deadlocks, **counts}


@asynccontextmanager
async def _writers(world: World, keys: int) -> AsyncIterator[Sequence[Writer]]:
    kinds = JobKinds([on_record(kind) for kind in plain_kinds()])
    made = [
        Writer(Database(world.url, pool_size=1), kinds, ProjectId(1 + n % PROJECTS), keys)
        for n in range(WRITERS)
    ]
    try:
        yield made
    finally:
        for each in made:
            await each.db.close()


async def _look(world: World, counts: Counter[str]) -> None:
    """Count keys that are alive twice, again and again."""
    while True:
        counts["twice"] += await world.count(TWICE)
        counts["looks"] += 1
        await world.clock.sleep(LOOK_EVERY_S)
