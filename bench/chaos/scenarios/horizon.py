"""A transaction that stays open, so that no row that has gone can be cleared away."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from statistics import quantiles
from typing import Any

import asyncpg

from bench.chaos.consumer import CLAIM
from bench.chaos.work import plain_job
from bench.chaos.world import World
from bench.report import Length

YOUNG_FOR_S = {Length.QUICK: 4.0, Length.FULL: 20.0}
HELD_FOR_S = {Length.QUICK: 12.0, Length.FULL: 240.0}
JOBS_PER_S = 200
MAY_GROW = 3.0
FLOOR_MS = 50.0  # other work is on the machine: below this nothing is said of growth


async def held_horizon(world: World, length: Length) -> Mapping[str, Any]:
    """Hold a transaction open at 200 jobs a second: claims stay quick."""
    await world.consume_all("ab")
    async with world.beside(_stream(world)):
        await world.until_done(JOBS_PER_S)  # until everything is warm
        begun = world.clock.now()
        await world.clock.sleep(YOUNG_FOR_S[length])
        held_since = world.clock.now()
        async with _old_reader(world):
            await world.clock.sleep(HELD_FOR_S[length] * 2 / 3)
            late_since = world.clock.now()
            await world.clock.sleep(HELD_FOR_S[length] / 3)
            until = world.clock.now()
    await world.until_empty()
    young = p99(_claims_ms(world, begun, held_since))
    late = p99(_claims_ms(world, late_since, until))
    bound = max(FLOOR_MS, MAY_GROW * young)
    world.expect(late <= bound, f"claim p99 stays bounded: {late:.1f} ms, not {bound:.1f}")
    return {
        "claim_p99_young_ms": young,
        "claim_p99_held_ms": late,
        "held_s": HELD_FOR_S[length],
        "jobs": len(world.promised),
    }


async def _stream(world: World) -> None:
    """Enqueue 200 jobs a second, a tenth of a second's worth at a time."""
    started, given = world.clock.monotonic(), 0
    while True:
        due = int((world.clock.monotonic() - started) * JOBS_PER_S) - given
        await world.enqueue([plain_job(given + number, 0) for number in range(due)])
        given += due
        await world.clock.sleep(0.1)


@asynccontextmanager
async def _old_reader(world: World) -> AsyncIterator[None]:
    """Hold a repeatable-read transaction open, as somebody's forgotten session does."""
    connection = await asyncpg.connect(world.admin_url, timeout=30)
    try:
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await connection.fetch("SELECT count(*) FROM jobs")
        yield
        await connection.execute("ROLLBACK")
    finally:
        await connection.close()


def _claims_ms(world: World, since: datetime, until: datetime) -> Sequence[float]:
    return [
        line["took_ms"]
        for diary in world.diaries
        for line in diary.lines(CLAIM)
        if since <= datetime.fromisoformat(line["timestamp"]) <= until
    ]


def p99(times: Sequence[float]) -> float:
    """Return the value that one in a hundred is above."""
    return quantiles(times, n=100, method="inclusive")[98]
