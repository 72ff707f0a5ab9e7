"""Boot, wait for the stop, and let go of what was begun, whatever happened."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import structlog

from consumer.shutdown_gate import Ending, ShutdownGate, Step
from storyshelf.clock import Clock
from storyshelf.queue.deadline import stop

log = structlog.get_logger(__name__)

LetGo = Callable[[], Awaitable[None]]
Boot = Callable[["Belongings"], Coroutine[Any, Any, None]]


class Belongings:
    """What a process has begun, and how each thing of it is let go of, in an order said before.

    Noted before the thing is begun: a boot that is cut off has begun it in part. So every way to
    let go must be harmless where there is nothing yet.
    """

    def __init__(self, order: Sequence[str]) -> None:
        self._order = tuple(order)
        self._ends: dict[str, Step] = {}

    def note(self, name: str, let_go: LetGo) -> None:
        """Have the thing let go of at the end, in its turn."""
        assert name in self._order, f"{name} has no turn in {self._order}"
        self._ends[name] = Step(name, let_go)
        log.debug("boot.begins", what=name)

    def steps(self) -> Sequence[Step]:
        """Return how to let go of what was begun."""
        return [self._ends[name] for name in self._order if name in self._ends]


async def live(
    boot: Boot, belongings: Belongings, gate: ShutdownGate, clock: Clock
) -> Sequence[Ending]:
    """Boot, wait until the stop is asked for, and let go; return how that went, step by step.

    Raises what broke the boot. A stop that is asked for while it boots ends the boot where it is.
    """
    endings: Sequence[Ending] = ()
    try:
        await _unless_asked(boot(belongings), gate, clock)
        await gate.asked.wait()
    finally:
        endings = await gate.drain(belongings.steps())
    return endings


async def _unless_asked(boot: Coroutine[Any, Any, None], gate: ShutdownGate, clock: Clock) -> None:
    booting, asked = asyncio.ensure_future(boot), asyncio.ensure_future(gate.asked.wait())
    try:
        await asyncio.wait({booting, asked}, return_when=asyncio.FIRST_COMPLETED)
        if booting.done():
            await booting
    finally:
        asked.cancel()
        await stop(clock, booting, gate.remaining_s() / 2)
