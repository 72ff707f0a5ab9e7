"""One gate that every request to stop goes through: one drains, the rest wait, one deadline."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

import structlog

from storyshelf.clock import Clock

GRACE = timedelta(seconds=25)  # under the 30 s that container platforms wait before they kill
LAST_STEP_S = 1.0  # a step that begins after the deadline still gets this much to let go

log = structlog.get_logger()


class Ending(StrEnum):
    """How a step of the teardown ended."""

    DONE = "done"
    FAILED = "failed"
    OVERRAN = "overran"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to let go of at the end."""

    name: str
    run: Callable[[], Awaitable[None]]


class ShutdownGate:
    """Closed once, by whoever asks first; the deadline counts from that moment for all."""

    def __init__(self, clock: Clock, grace: timedelta = GRACE) -> None:
        self._clock = clock
        self._grace_s = grace.total_seconds()
        self._deadline: float | None = None
        self._draining = False
        self._drained = asyncio.Event()
        self.asked = asyncio.Event()

    def ask(self) -> None:
        """Ask for the stop; harmless when asked again. May be called by a signal handler."""
        if self._deadline is None:
            self._deadline = self._clock.monotonic() + self._grace_s
            self.asked.set()

    def remaining_s(self) -> float:
        """Return what is left of the grace: all of it before anyone asked, never below zero."""
        if self._deadline is None:
            return self._grace_s
        return max(self._deadline - self._clock.monotonic(), 0.0)

    async def drain(self, steps: Sequence[Step]) -> tuple[Ending, ...]:
        """Take the steps one after another if nobody does yet, else wait until they are taken.

        A step that fails or overruns is logged and the next one is taken all the same. The one who
        came later gets no endings: its steps were not taken.
        """
        self.ask()
        if self._draining:
            await self._drained.wait()
            return ()
        self._draining = True
        try:
            return tuple([await self._take(step) for step in steps])
        finally:
            self._drained.set()

    async def _take(self, step: Step) -> Ending:
        started = self._clock.monotonic()
        ending = await self._within_deadline(step)
        took_ms = round((self._clock.monotonic() - started) * 1000)
        log.info("shutdown.step", step=step.name, ending=str(ending), took_ms=took_ms)
        return ending

    async def _within_deadline(self, step: Step) -> Ending:
        ended = asyncio.Event()
        budget_s = max(self.remaining_s(), LAST_STEP_S)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(_guarded(step, ended))
            await self._clock.wait_for(ended, budget_s)
            running.cancel()  # nothing happens to a step that has ended
        return Ending.OVERRAN if running.cancelled() else running.result()


async def _guarded(step: Step, ended: asyncio.Event) -> Ending:
    try:
        await step.run()
    except Exception as error:  # the steps after this one must still be taken
        log.exception("shutdown.step_failed", step=step.name, error=repr(error))
        return Ending.FAILED
    finally:
        ended.set()
    return Ending.DONE
