"""One gate that every request to stop goes through: one drains, the rest wait, one deadline."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

import structlog

from storyshelf.clock import Clock
from storyshelf.queue.deadline import stop

GRACE = timedelta(seconds=25)  # under the 30 s that container platforms wait before they kill
LAST_STEP_S = 0.5  # kept of a grace of 25 s for each step that is to come, and after its end
LAST_STEP_SHARE = 0.02  # the same of any grace

log = structlog.get_logger()


def nothing_more() -> None:
    """Leave it at closing."""


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

    def __init__(
        self, clock: Clock, grace: timedelta = GRACE, on_asked: Callable[[], None] = nothing_more
    ) -> None:
        self._clock = clock
        self._grace_s = grace.total_seconds()
        self._moment_s = min(LAST_STEP_S, LAST_STEP_SHARE * self._grace_s)
        self._on_asked = on_asked
        self._deadline: float | None = None
        self._draining = False
        self._drained = asyncio.Event()
        self.asked = asyncio.Event()

    def ask(self) -> None:
        """Ask for the stop; harmless when asked again. May be called by a signal handler."""
        if self._deadline is None:
            self._deadline = self._clock.monotonic() + self._grace_s
            self._on_asked()
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
            to_come = range(len(steps) - 1, -1, -1)
            return tuple([await self._take(*each) for each in zip(steps, to_come, strict=True)])
        finally:
            self._drained.set()

    async def _take(self, step: Step, to_come: int) -> Ending:
        started = self._clock.monotonic()
        budget_s = max(self.remaining_s() - to_come * self._moment_s, self._moment_s)
        ending = await self._within(budget_s, step)
        took_ms = round((self._clock.monotonic() - started) * 1000)
        log.info("shutdown.step", step=step.name, ending=str(ending), took_ms=took_ms)
        return ending

    async def _within(self, budget_s: float, step: Step) -> Ending:
        ended = asyncio.Event()
        running = asyncio.ensure_future(_guarded(step, ended))
        try:
            if await self._clock.wait_for(ended, budget_s):
                return await running
        finally:
            # One that hangs in its own end is left behind, or it would hold up all after it.
            await stop(self._clock, running, self._moment_s / 2)
        return Ending.OVERRAN


async def _guarded(step: Step, ended: asyncio.Event) -> Ending:
    try:
        await step.run()
    except Exception as error:  # the steps after this one must still be taken
        log.exception("shutdown.step_failed", step=step.name, error=repr(error))
        return Ending.FAILED
    finally:
        ended.set()
    return Ending.DONE
