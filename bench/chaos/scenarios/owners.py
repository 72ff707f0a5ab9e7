"""Who owns a job: consumers that stand still, clocks that are wrong, leases that are stolen."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from signal import Signals
from typing import Any

from bench.chaos.consumer import LEASE_S
from bench.chaos.duel import Duellist, a_duellist, a_gate
from bench.chaos.hosts import a_host
from bench.chaos.work import DUEL_LANE, duel_job, stories_of
from bench.chaos.world import World
from bench.report import Length
from storyshelf.ids import ConsumerId
from storyshelf.queue import store
from storyshelf.queue.job import Lease

ROUNDS = {Length.QUICK: 1, Length.FULL: 5}
CLOCK_JOBS = {Length.QUICK: 150, Length.FULL: 1_500}
THEFTS = {Length.QUICK: 5, Length.FULL: 40}
DUELS = {Length.QUICK: 20, Length.FULL: 200}
SHIFTS = {Length.QUICK: ("+1h",), Length.FULL: ("+1h", "-1h")}  # each takes a warm process
AN_HOUR_S = 3_600.0
FAKETIME = "libfaketime.so.1"  # of the package faketime; without it the clock alone is wrong
STEAL = (
    "UPDATE jobs SET lease_expires_at = statement_timestamp() - interval '1 second'"
    " WHERE state = 'running' AND id % 2 = 0"
)
RUNNING_OF = "SELECT count(*) FROM jobs WHERE state = 'running' AND consumer_id LIKE $1"


async def stood_still(world: World, length: Length) -> Mapping[str, Any]:
    """Stop a consumer for two leases in the middle of its work, then have it go on."""
    (sleeper, _) = await world.consume_all("ab")
    for _ in range(ROUNDS[length]):
        await world.upload(1, stories_of(12))
        await world.give(24, 2_500)

        async def is_busy() -> bool:
            return await world.count(RUNNING_OF, "a:%") >= 4

        await world.until(is_busy, "the consumer is busy")
        sleeper.send(Signals.SIGSTOP)
        await world.clock.sleep(2 * LEASE_S)
        sleeper.send(Signals.SIGCONT)
        await world.until_empty()
    await world.stop_all()
    lost = [each for each in sleeper.diary.believed if each.outcome == "lost"]
    world.expect(lost, "who slept learned that its leases were gone")
    return {"rounds": ROUNDS[length], "leases_lost": len(lost)}


async def wrong_clocks(world: World, length: Length) -> Mapping[str, Any]:
    """Have consumers an hour ahead and an hour behind, and one whose clock jumps."""
    library = faketime()
    with ExitStack() as ends:
        for shift in SHIFTS[length]:
            host = ends.enter_context(a_host(faked(library, shift)))
            await world.consume(shift, host=host, skew_s=0 if library else AN_HOUR_S)
        await world.consume("jumping", skew_s=AN_HOUR_S)
        await world.upload(2, stories_of(10))
        await world.give(6, round(1200 * LEASE_S))  # these live by their renewals
        await world.give(CLOCK_JOBS[length], 100)
        await world.until_empty()
        await world.stop_all()
    lost = await world.count("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'")
    world.expect(lost == 0, f"no lease was given away: {lost} lost")
    return {"means": "faketime" if library else "clock", "attempts_lost": lost}


def faketime() -> str:
    """Return where the library is that lies about the time; empty if it is not installed."""
    found = sorted(Path("/usr/lib").glob(f"*/faketime/{FAKETIME}"))
    return str(found[0]) if found else ""


def faked(library: str, shift: str) -> Mapping[str, str]:
    """Return the environment in which the wall clock is wrong, and that one alone."""
    if not library:
        return {}
    return {
        "LD_PRELOAD": library,
        "FAKETIME": shift,
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


async def theft(world: World, length: Length) -> Mapping[str, Any]:
    """End leases under the hands of their holders; then have two settle one job in one moment."""
    await world.consume_all("ab")
    await world.upload(2, stories_of(8))
    await world.give(THEFTS[length] * 6, 1_200)
    stolen = 0
    for _ in range(THEFTS[length]):
        stolen += await world.count(f"WITH s AS ({STEAL} RETURNING 1) SELECT count(*) FROM s")
        await world.clock.sleep(0.5)
    await world.until_empty()
    world.expect(stolen, "leases were stolen")
    stale_refused = await _duels(world, DUELS[length])
    await world.stop_all()
    return {"stolen": stolen, "duels": DUELS[length], "stale_refused": stale_refused}


async def _duels(world: World, number: int) -> int:
    """Have every other job settled twice under one token, the rest under an old and a new one."""
    refused = 0
    async with a_duellist(world, "left") as left, a_duellist(world, "right") as right:
        for each in range(number):
            leases = await _one_lease_twice(world) if each % 2 else await _old_and_new(world)
            answers = await _at_once(world, (left, right), leases)
            if leases[0].token == leases[1].token:
                world.expect(answers == ["completed"] * 2, f"both know that it is done: {answers}")
            else:
                refused += 1
                world.expect(answers == ["lost", "completed"], f"the old token lost: {answers}")
    return refused


async def _one_lease_twice(world: World) -> Sequence[Lease]:
    await world.enqueue([duel_job()])
    lease = await _claim(world, "left")
    return lease, lease


async def _old_and_new(world: World) -> Sequence[Lease]:
    await world.enqueue([duel_job()])
    old = await _claim(world, "left")
    await world.ask(
        "UPDATE jobs SET lease_expires_at = statement_timestamp() - interval '1 second'"
        " WHERE id = $1",
        old.job_id,
    )
    return old, await _claim(world, "right")


async def _claim(world: World, name: str) -> Lease:
    async with world.db.transaction() as tx:
        found = await store.claim(tx, ConsumerId(name), {DUEL_LANE: 1}, timedelta(seconds=60))
    (lease,) = found.leases
    return lease


async def _at_once(
    world: World, pair: tuple[Duellist, Duellist], leases: Sequence[Lease]
) -> Sequence[str]:
    """Have both stand at a lock, and let them go."""
    async with a_gate(world.url, waiting=len(pair)):
        for duellist, lease in zip(pair, leases, strict=True):
            await duellist.draw(lease)
    return [await duellist.answer() for duellist in pair]
