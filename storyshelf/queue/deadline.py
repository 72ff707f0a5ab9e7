"""Bounded waiting on the injected clock: for an answer, and for cancelled work to end."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from storyshelf.clock import Clock

STOP_WITHIN_S = 5.0  # for a cancelled statement, which ends as soon as its socket is dropped

T = TypeVar("T")


class CancelledItselfError(Exception):
    """The work was cancelled, and not by whoever waited for it: to them it has failed."""


async def within(clock: Clock, limit_s: float, work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns.

    Raises TimeoutError, with the work cancelled, past the limit; and CancelledItselfError, since a
    CancelledError would pass for the caller's own cancellation, and silently end its loop.
    """
    task = asyncio.ensure_future(work)
    try:
        if await clock.wait_for(_done(task), limit_s):
            if task.cancelled():
                raise CancelledItselfError
            return task.result()
    finally:
        await stop(clock, task)
    raise TimeoutError(f"no answer within {limit_s:g} s")


async def stop(clock: Clock, task: "asyncio.Future[Any]", limit_s: float = STOP_WITHIN_S) -> bool:
    """Cancel the task and wait for its end, boundedly; return whether it has ended.

    A task that swallows its cancellation is left behind: it may hold nothing but its own time, as
    everything it could write is fenced.
    """
    if task.done():
        _forget_result(task)
        return True
    task.cancel()
    task.add_done_callback(_forget_result)
    return await clock.wait_for(_done(task), limit_s)


def _done(task: "asyncio.Future[Any]") -> asyncio.Event:
    done = asyncio.Event()
    task.add_done_callback(lambda _: done.set())
    return done


def _forget_result(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled():
        task.exception()  # else asyncio reports it as never retrieved
