"""The stand-ins keep the promises of what they stand in for."""

import asyncio
from datetime import timedelta

import pytest

from storyshelf.clock import Clock, SystemClock
from tests.fakes import EPOCH, FakeClock


@pytest.fixture(params=[SystemClock, FakeClock])
def any_clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


async def test_a_clock_returns_at_once_when_the_event_is_already_set(any_clock: Clock) -> None:
    event = asyncio.Event()
    event.set()
    assert await any_clock.wait_for(event, 60)


async def test_a_clock_says_no_when_there_is_no_time_left(any_clock: Clock) -> None:
    assert not await any_clock.wait_for(asyncio.Event(), 0)
    assert not await any_clock.wait_for(asyncio.Event(), -1)


async def test_a_clock_sees_an_event_that_is_set_while_it_waits(any_clock: Clock) -> None:
    event = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(any_clock.wait_for(event, 60))
        await any_clock.sleep(0)
        event.set()
    assert waiting.result()


async def test_a_clock_tells_wall_time_in_utc(any_clock: Clock) -> None:
    assert any_clock.now().utcoffset() == timedelta(0)


async def test_time_stands_still_until_it_is_advanced() -> None:
    clock = FakeClock()
    await clock.settle()
    assert (clock.monotonic(), clock.now()) == (0.0, EPOCH)


async def test_sleepers_wake_in_order_and_see_their_own_time() -> None:
    clock, seen = FakeClock(), []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        seen.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        for name, seconds in (("late", 9.0), ("early", 2.0), ("as early", 2.0)):
            group.create_task(sleeper(name, seconds))
        await clock.advance(10)
    assert seen == [("early", 2.0), ("as early", 2.0), ("late", 9.0)]
    assert clock.monotonic() == 10.0


async def test_a_loop_that_sleeps_wakes_as_often_as_it_fits() -> None:
    clock, beats = FakeClock(), []

    async def beat() -> None:
        while True:
            await clock.sleep(5)
            beats.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        beating = group.create_task(beat())
        await clock.advance(timedelta(seconds=17))
        beating.cancel()
    assert beats == [5.0, 10.0, 15.0]


async def test_what_a_woken_task_starts_runs_before_time_moves_on() -> None:
    clock, seen = FakeClock(), []

    async def chain(hops: int) -> None:
        if hops:
            await asyncio.ensure_future(chain(hops - 1))
            return
        seen.append(clock.monotonic())

    async def sleeper() -> None:
        await clock.sleep(1)
        await chain(40)

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper())
        await clock.advance(100)
    assert seen == [1.0]


async def test_a_wait_ends_when_its_time_is_over() -> None:
    clock = FakeClock()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(clock.wait_for(asyncio.Event(), 3))
        await clock.advance(2.9)
        assert not waiting.done()
        await clock.advance(0.1)
        assert waiting.done()
    assert not waiting.result()


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = FakeClock()
    async with asyncio.TaskGroup() as group:
        sleeping = group.create_task(clock.sleep(5))
        await clock.settle()
        assert clock.sleeping == 1
        sleeping.cancel()
        await clock.settle()
        assert clock.sleeping == 0
        await clock.advance(10)
    assert clock.monotonic() == 10.0


async def test_a_task_that_spins_is_named_rather_than_hung_on() -> None:
    clock = FakeClock()

    async def spin() -> None:
        while True:
            await clock.sleep(0)

    spinning = asyncio.ensure_future(spin())
    with pytest.raises(AssertionError, match="does it spin"):
        await clock.settle()
    spinning.cancel()
