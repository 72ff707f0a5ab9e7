"""The life of a consumer: it proves that it can capture, claims, and at the end lets go in order.

Boot: schema → engine, browser and isolation tried (else the end, with the cure; nothing is ever
claimed) → claim loops → heartbeat row → health last. Stop: claims end and what does not finish in
its budget is given back uncharged → children → heartbeat row → connections → health last. A boot
that fails half-way lets go of what it had, by the same stack.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from consumer.doctor import probe_engine
from consumer.environment import Environment, environment_of
from consumer.health import health_server
from consumer.heartbeat import Heartbeat
from consumer.isolation import Isolation, choose_isolation
from consumer.probe import require_fit
from consumer.scratch import open_scratch
from consumer.shutdown_gate import ShutdownGate, Step
from consumer.supervisor import Supervisor
from consumer.trial import try_child
from consumer.wiring import Frame, claiming_side, introduce
from storyshelf.db import migrate
from storyshelf.queue.consumer_side import ConsumerSide
from storyshelf.queue.store import Beat, ConsumerState

DRAIN_SHARE = 0.6  # of the grace: the rest is for giving back, children and connections
LAST_RESORT_S = 10  # beyond the grace: then the kernel ends what no code of ours could

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Proven:
    """That this machine can capture, and what its pictures are made with."""

    isolation: Isolation
    environment: Environment


async def run_consumer(frame: Frame) -> None:
    """Run until a signal asks for the stop; raises what kept it from starting."""
    gate = ShutdownGate(frame.clock, frame.grace)
    wants_quiet = asyncio.Event()
    _listen_to_signals(gate, wants_quiet, frame)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(frame.db.close)
        proven = await _unless_stopped(gate, _boot(frame, stack))
        if proven is not None:
            port = frame.settings.health_port
            await stack.enter_async_context(health_server(port, lambda: _why_not_ready(gate)))
            await _work(frame, proven, gate, wants_quiet)
    log.info("consumer.stopped")


async def _boot(frame: Frame, stack: AsyncExitStack) -> Proven:
    await migrate.require_head(frame.db)
    return await stack.enter_async_context(_proven(frame))


async def _unless_stopped(gate: ShutdownGate, boot: Coroutine[Any, Any, Proven]) -> Proven | None:
    """Return what the boot came to; a stop meanwhile has it let go of what it began: None."""
    booting, asked = asyncio.ensure_future(boot), asyncio.ensure_future(gate.asked.wait())
    await asyncio.wait({booting, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if gate.asked.is_set():
        booting.cancel()
        await asyncio.wait({booting})
    return None if booting.cancelled() else booting.result()


@asynccontextmanager
async def _proven(frame: Frame) -> AsyncIterator[Proven]:
    """Try engine, browser and isolation; what was furnished for it is cleared at the end."""
    require_fit([probe_engine()])
    frame.settings.scratch_dir.mkdir(parents=True, exist_ok=True)
    with open_scratch(frame.settings.scratch_dir) as scratch:
        isolation = await choose_isolation(frame.ground(scratch, os.environ))
        trial = await try_child(isolation, frame.clock)
        environment = environment_of(trial.facts)
        log.info("consumer.proven", environment=environment.id, isolation=isolation.describe())
        yield Proven(isolation, environment)


async def _work(
    frame: Frame, proven: Proven, gate: ShutdownGate, wants_quiet: asyncio.Event
) -> None:
    consumer = introduce(frame, proven.environment)
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, frame.clock, proven.isolation, frame.child_limits)
        side = claiming_side(frame, consumer, supervisor, proven.environment)
        heart = Heartbeat(
            frame.db,
            frame.clock,
            consumer,
            proven.environment,
            says=lambda: Beat(side.running_jobs(), _state_of(side, gate)),
            on_wish=lambda wish: _grant(wish, side, gate),
        )
        obeying = group.create_task(_be_quiet_when(wants_quiet, side))
        group.create_task(side.run_forever())
        await heart.register()
        beating = group.create_task(heart.run_forever())
        log.info("consumer.started", consumer=consumer.id, lanes=consumer.lanes)
        await gate.asked.wait()
        await gate.drain(
            [
                Step("claims", lambda: side.stop(DRAIN_SHARE * gate.remaining_s())),
                Step("children", supervisor.close),
                Step("heartbeat", heart.say_goodbye),
            ]
        )
        beating.cancel()
        obeying.cancel()


def _listen_to_signals(gate: ShutdownGate, wants_quiet: asyncio.Event, frame: Frame) -> None:
    """Hear of a stop from the first moment on: a boot, too, has children and folders to clear."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        # The alarm's default is to end the process, whatever it hangs in by then.
        signal.setitimer(signal.ITIMER_REAL, frame.settings.stop_grace_s + LAST_RESORT_S)
        gate.ask()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGTSTP, wants_quiet.set)


async def _be_quiet_when(wanted: asyncio.Event, side: ConsumerSide) -> None:
    await wanted.wait()
    log.info("consumer.quiet")
    side.fetcher.quiet()


def _state_of(side: ConsumerSide, gate: ShutdownGate) -> ConsumerState:
    if gate.asked.is_set():
        return ConsumerState.STOPPING
    return ConsumerState.QUIET if side.fetcher.is_quiet else ConsumerState.RUNNING


def _grant(wish: ConsumerState, side: ConsumerSide, gate: ShutdownGate) -> None:
    side.fetcher.quiet()
    if wish is ConsumerState.STOPPING:
        gate.ask()


def _why_not_ready(gate: ShutdownGate) -> str | None:
    return "the consumer is stopping" if gate.asked.is_set() else None
