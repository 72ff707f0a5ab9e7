"""Networks that fail between consumers and Postgres."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bench.chaos.consumer import LEASE_S
from bench.chaos.hosts import Started
from bench.chaos.ledger import unrecognised
from bench.chaos.networks import remote_hosts
from bench.chaos.proxy import Proxy, a_proxy, hint_lines
from bench.chaos.work import stories_of
from bench.chaos.world import World
from bench.report import Length

ROUNDS = {Length.QUICK: 1, Length.FULL: 4}
DELAY_S = 0.2
LOST_ANSWERS = 5  # of each round
ACTIVE_POLL_S = 2.0 * 1.2  # stretched as far as it goes
SLACK_S = 1.0  # for a process to be given its turn on a busy machine
HEARS_AGAIN_S = 15.0
HEARS = "hints.connected"
END_HINTS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'storyshelf-consumer hints'
"""
HOSTS = 3
HOST_JOBS = {Length.QUICK: 150, Length.FULL: 1_500}


async def bad_network(world: World, length: Length) -> Mapping[str, Any]:
    """Delay, stall and drop, and lose the answers of settles that were committed."""
    async with a_proxy(world.url) as (proxy, url):
        await world.consume_all("abc", url=url)
        for _ in range(ROUNDS[length]):
            await _one_of_each(world, proxy)
        await world.stop_all()
    expected = ROUNDS[length] * LOST_ANSWERS
    world.expect(proxy.lost_answers == expected, f"{proxy.lost_answers} of {expected} answers lost")
    return {"rounds": ROUNDS[length], "answers_lost": proxy.lost_answers}


async def _one_of_each(world: World, proxy: Proxy) -> None:
    await _answers_lost(world, proxy)
    await world.upload(2, stories_of(8))
    await world.give(150, 50)
    proxy.delay_s = DELAY_S
    await world.clock.sleep(3)
    proxy.delay_s = 0.0
    await world.give(100, 400)
    for _ in range(3):
        proxy.drop()
        await world.clock.sleep(0.7)
    proxy.stall()
    await world.clock.sleep(1.5 * LEASE_S)
    proxy.flow()
    await world.until_empty()


async def _answers_lost(world: World, proxy: Proxy) -> None:
    """Cut connections right after a settle was committed on them: it must find its own token."""
    before = unrecognised(await world.facts())
    await world.upload(1, stories_of(8))
    await world.give(60, 50)
    proxy.answers_to_lose = LOST_ANSWERS
    await world.until_empty()
    missed = unrecognised(await world.facts()) - before
    world.expect(missed == 0, f"settles whose answer was lost are recognised, all but {missed}")


async def deaf_consumer(world: World, length: Length) -> Mapping[str, Any]:
    """Kill the backend of the line that hears hints; then block its socket without a word."""
    starts_s, hears_s = [], []
    async with a_proxy(world.url) as (proxy, url):
        (consumer,) = await world.consume_all("a", url=url)
        await world.give(5, 10)
        await world.until_empty()
        for _ in range(ROUNDS[length]):
            await world.ask(END_HINTS)
            starts_s.append(await _start_of_one(world))
            await _hints_arrive(world, proxy)
            began = world.clock.monotonic()
            back = _heard_again(world, consumer)
            proxy.stall_now(hint_lines)
            starts_s.append(await _start_of_one(world))
            await back()
            hears_s.append(world.clock.monotonic() - began)
            proxy.flow()
        await world.stop_all()
    start_s, hear_s = max(starts_s), max(hears_s)
    world.expect(start_s <= ACTIVE_POLL_S + SLACK_S, f"work starts in a poll, not {start_s:.1f} s")
    world.expect(hear_s <= HEARS_AGAIN_S, f"hints are back in 15 s, not {hear_s:.1f} s")
    return {"slowest_start_s": start_s, "hears_again_s": hear_s}


def _heard_again(world: World, consumer: Started) -> Callable[[], Awaitable[bool]]:
    """Return what waits until the consumer has a line for hints that it has not now."""
    before = len(consumer.diary.times(HEARS))

    async def it_has() -> bool:
        return len(consumer.diary.times(HEARS)) > before

    return lambda: world.until(it_has, "hints are heard again")


async def _start_of_one(world: World) -> float:
    """Enqueue one job, and return how long it was before it was started."""
    (job_id,) = await world.enqueue_plain(10)
    await world.until_empty()
    (row,) = await world.ask(
        "SELECT extract(epoch FROM started_at - enqueued_at)::float8 AS waited_s"
        " FROM jobs_done WHERE id = $1",
        job_id,
    )
    return float(row["waited_s"])


async def _hints_arrive(world: World, proxy: Proxy) -> None:
    async def there_is_one() -> bool:
        return any(hint_lines(line.talk) for line in proxy.lines)

    await world.until(there_is_one, "a line for hints")


async def three_hosts(world: World, length: Length) -> Mapping[str, Any]:
    """Cut one host of three off for longer than its lease, in the middle of its work."""
    async with remote_hosts(world.url, HOSTS) as hosts:
        await world.upload(3, stories_of(8))
        await world.give(HOST_JOBS[length], 1_000)
        for name, remote in zip("abc", hosts, strict=True):
            await world.consume(name, url=remote.url, network=remote.network)
        away = hosts[0]
        for _ in range(ROUNDS[length]):
            await world.until_running(6 * HOSTS)
            await away.cut()
            await world.clock.sleep(1.5 * LEASE_S)
            await away.join()
            await world.clock.sleep(2)
        await world.until_empty()
        await world.stop_all()
    lost = [each for each in world.diaries[0].believed if each.outcome == "lost"]
    world.expect(lost, "who was cut off saw its leases end")
    return {"hosts": away.means.value, "leases_lost": len(lost)}
