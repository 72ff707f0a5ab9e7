"""Waiting is bounded, and what ends late or badly meanwhile is nobody's surprise."""

import asyncio
import gc
from typing import Any

from storyshelf.queue.deadline import stop
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
