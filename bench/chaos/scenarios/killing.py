"""Consumers that die: by chance, or of the job itself."""

from collections.abc import Mapping
from secrets import choice
from signal import Signals
from typing import Any

from bench.chaos.work import poison_job, poisoned, stories_of
from bench.chaos.world import World
from bench.report import Length

KILL_EVERY_S = 0.7
GIVE_UP_AFTER_S = 240.0  # what is left then is counted as lost
NAMES = "abcd"
# plain jobs, builds, shards of a build; with their plans and finalises 4,000 jobs in full
JOBS = {Length.QUICK: (500, 2, 12), Length.FULL: (3_120, 40, 20)}
POISON_LEASE_S = 4.0
POISONED = {Length.QUICK: 1, Length.FULL: 3}  # builds
LASTS_MS = {Length.QUICK: 150, Length.FULL: 250}


async def random_kills(world: World, length: Length) -> Mapping[str, Any]:
    """Kill any consumer every 0.7 s, and start another, until the work is done."""
    jobs, builds, shards = JOBS[length]
    await world.upload(builds, stories_of(shards))
    await world.give(jobs, LASTS_MS[length])
    await world.consume_all(NAMES)
    killed = 0
    ends_at = world.clock.monotonic() + GIVE_UP_AFTER_S
    while await world.unfinished() and world.clock.monotonic() < ends_at:
        await world.clock.sleep(KILL_EVERY_S)
        victim = choice(world.alive)
        victim.send(Signals.SIGKILL)
        killed += 1
        await world.consume(victim.name)
    await world.until_empty()
    lost = await world.count("SELECT count(*) FROM job_attempts WHERE outcome = 'lost'")
    world.expect(lost, "a kill cut off work under way")
    return {"kills": killed, "jobs": jobs + builds * (shards + 2), "attempts_lost": lost}


async def poison(world: World, length: Length) -> Mapping[str, Any]:
    """Enqueue a job, and a story, that kill whoever works on them; start who was killed again."""
    world.lease_s = POISON_LEASE_S  # three run out, one after the other
    (job_id,) = await world.enqueue([poison_job()])
    await world.upload(POISONED[length], poisoned(stories_of(3)))
    await world.give(20, 20)
    deaths = await _with_two_at_work(world)
    await world.until_empty()
    attempts = await world.count("SELECT count(*) FROM job_attempts WHERE job_id = $1", job_id)
    world.expect(attempts == 3, f"three attempts, not {attempts}")
    await _expect_builds_reduced(world, POISONED[length])
    return {"deaths": deaths, "attempts": attempts}


async def _with_two_at_work(world: World) -> int:
    """Start whoever has died again until the work is done; return how many have."""
    living = list(await world.consume_all("ab"))
    deaths = 0
    ends_at = world.clock.monotonic() + GIVE_UP_AFTER_S
    while await world.unfinished() and world.clock.monotonic() < ends_at:
        dead = [each for each in living if not each.is_alive]
        deaths += len(dead)
        born = [await world.consume(each.name) for each in dead]
        living = [each for each in living if each not in dead] + born
        await world.clock.sleep(0.2)
    return deaths


async def _expect_builds_reduced(world: World, builds: int) -> None:
    outcomes = await world.ask("SELECT outcome FROM jobs_done WHERE kind = 'capture' ORDER BY 1")
    failed = sum(row["outcome"] == "failed" for row in outcomes)
    world.expect(failed == builds, f"a shard of each build fails: {failed}")
    states = [row["state"] for row in await world.ask("SELECT state FROM builds")]
    world.expect(states == ["failed"] * builds, f"each build is reduced: {states}")
    done = await world.count("SELECT count(*) FROM shards WHERE state = 'done'")
    world.expect(done == 3 * builds, f"its other shards are done: {done}")
