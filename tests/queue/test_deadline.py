"""Waiting is bounded, and what ends late or badly meanwhile is nobody's surprise."""

import asyncio
import gc
from typing import Any

import pytest

from storyshelf.queue.deadline import CancelledItselfError, stop, within
from tests.fakes import FakeClock


async def fails() -> None:
    raise ValueError("the lease was lost")


async def test_work_that_had_failed_before_it_was_stopped_is_not_reported_as_forgotten() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    work = asyncio.ensure_future(fails())
    await asyncio.wait({work})
    assert await stop(FakeClock(), work)
    del work
    gc.collect()
    assert reported == []


async def test_work_that_cancels_itself_has_failed_and_cancels_nobody_else() -> None:
    with pytest.raises(CancelledItselfError):
        await within(FakeClock(), 1, cancels_itself())


async def test_who_waits_is_cancelled_with_the_work_it_waits_for() -> None:
    clock = FakeClock()
    waiting = asyncio.create_task(within(clock, 1, clock.sleep(3600)))
    await clock.settle()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()


async def cancels_itself() -> None:
    raise asyncio.CancelledError
