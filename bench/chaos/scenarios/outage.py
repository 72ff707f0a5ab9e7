"""A database that goes away: stopped at once, or full."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import asyncpg

from bench.chaos.work import plain_job, stories_of
from bench.chaos.world import World
from bench.report import Length
from storyshelf.queue.outage import may_pass

STOPS = 3
# plain jobs, builds, shards of a build
CRASH_JOBS = {Length.QUICK: (240, 2, 8), Length.FULL: (3_000, 20, 20)}
FULL_FOR_S = 2.5  # under the time for which a lease of 6 s is trusted
FULL_TIMES = {Length.QUICK: 1, Length.FULL: 4}
BUSY = 6  # places of the lane of plain jobs that are not kept for somebody who waits
OURS = "storyshelf-consumer%"


async def immediate_stops(world: World, length: Length) -> Mapping[str, Any]:
    """Stop Postgres at once, three times during a drain; work goes on coming all the while."""
    jobs, builds, shards = CRASH_JOBS[length]
    await world.upload(builds, stories_of(shards))
    await world.give(jobs, 60)
    await world.consume_all("abc")
    async with world.beside(_keep_coming(world)):
        for number in range(1, STOPS + 1):
            await world.until_done(number * (jobs + builds * (shards + 2)) // (STOPS + 1))
            await crash(world)
    await world.until_empty()
    return {"stops": STOPS, "jobs": len(world.promised) + builds * (shards + 2)}


async def crash(world: World) -> None:
    """Stop the server as a loss of power does, and start it again."""
    status = await asyncio.to_thread(world.server.status)
    assert status.pid is not None, "the server runs"
    os.kill(status.pid, signal.SIGQUIT)
    await asyncio.to_thread(world.server.start)


async def _keep_coming(world: World) -> None:
    """Enqueue a few jobs again and again; what was not answered was not promised."""
    number = 0
    while True:
        try:
            await world.enqueue([plain_job(number, 20), plain_job(number + 1, 20)])
        except Exception as error:
            if not may_pass(error):
                raise
        number += 2
        await world.clock.sleep(0.1)


async def connections_used_up(world: World, length: Length) -> Mapping[str, Any]:
    """Take every connection while settles are due: they wait, and their places stay taken."""
    await world.upload(1, stories_of(6))
    await world.consume_all("a")
    await world.until_empty()
    taken = 0
    for _ in range(FULL_TIMES[length]):
        async with AsyncExitStack() as crowd:
            taken = await _fill_up(world, crowd)
            await world.give(2 * BUSY, 2_000)
            await world.until_running(BUSY)
            await _crowd_out(world, crowd)
        await world.until_empty()
    waited = sum(len(diary.lines("settle.waits")) for diary in world.diaries)
    lost = await world.count("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'")
    world.expect(waited, "a settle waited for a connection")
    world.expect(lost == 0, f"nothing was given away meanwhile: {lost} lost")
    return {"connections_taken": taken, "settles_waited": waited, "attempts_lost": lost}


async def _fill_up(world: World, crowd: AsyncExitStack) -> int:
    """Connect until nobody is let in any more; return how often that went well."""
    taken = 0
    while True:
        try:
            connection = await asyncpg.connect(world.url, timeout=10)
        except asyncpg.TooManyConnectionsError:
            return taken
        crowd.push_async_callback(connection.close)
        taken += 1


async def _crowd_out(world: World, crowd: AsyncExitStack) -> None:
    """Break the consumers' connections, and take the place of each, for as long as it is full."""
    ends_at = world.clock.monotonic() + FULL_FOR_S
    while world.clock.monotonic() < ends_at:
        await world.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE $1",
            OURS,
        )
        await _fill_up(world, crowd)
        await world.clock.sleep(0.1)
