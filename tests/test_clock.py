import asyncio

from storyshelf.clock import SystemClock


async def test_an_event_that_comes_in_time_is_reported() -> None:
    event = asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    assert await SystemClock().wait_for(event, 60)


async def test_a_wait_ends_without_its_event() -> None:
    assert not await SystemClock().wait_for(asyncio.Event(), 0.001)


async def test_an_event_that_is_set_already_needs_no_time() -> None:
    event = asyncio.Event()
    event.set()
    assert await SystemClock().wait_for(event, 0)


async def test_a_cancellation_in_the_turn_of_the_event_ends_the_wait() -> None:
    started, event = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(wait_for_it(started, event))
    await started.wait()
    event.set()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def wait_for_it(started: asyncio.Event, event: asyncio.Event) -> None:
    started.set()
    await SystemClock().wait_for(event, 60)
