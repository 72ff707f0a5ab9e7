"""What a consumer begins at its boot, in order, and how each is let go of at its end."""

import asyncio
import os
import socket
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from consumer.conduct import Conduct
from consumer.doctor import probe_engine
from consumer.environment import Environment, environment_of
from consumer.health import Figures, listen, serve_health, take_port
from consumer.heartbeat import Heartbeat
from consumer.isolation import Isolation, choose_isolation
from consumer.probe import require_fit
from consumer.scratch import open_scratch, sweep_beside
from consumer.shutdown_gate import ShutdownGate
from consumer.staging import Belongings
from consumer.supervisor import Supervisor
from consumer.trial import try_child
from consumer.wiring import (
    Frame,
    claiming_side,
    figures_of,
    flush_of,
    introduce,
    reclaim_of,
)
from storyshelf.db import migrate
from storyshelf.ids import JobId
from storyshelf.queue.consumer_side import ConsumerSide
from storyshelf.queue.deadline import within
from storyshelf.queue.store import Consumer, ConsumerState
from storyshelf.wiring import offices_of

# The order of letting go: what gives back first, then what says that we are gone, since others wait
# for it; then what is ours alone, and what all these need.
LETTING_GO = (
    "claims",
    "children",
    "settles",
    "row",
    "lead",
    "figures",
    "loops",
    "scratch",
    "pool",
    "health",
)
DRAIN_SHARE = 0.6  # of the grace for what runs to end
GIVE_BACK_SHARE = 0.8  # and then for the rest to be given back; who hangs in a browser is next

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Life:
    """One run of a consumer; its tasks belong to `group`."""

    frame: Frame
    gate: ShutdownGate
    conduct: Conduct
    group: asyncio.TaskGroup
    loops: list[asyncio.Task[None]] = field(default_factory=list)  # that have no end of their own

    async def boot(self, had: Belongings) -> None:
        """Begin everything; probes are answered when all else is there."""
        frame = self.frame
        had.note("pool", frame.db.close)
        port = self._take_port(had)
        await migrate.require_head(frame.db)
        scratch = self._make_room(had)
        isolation, environment = await self._prove(scratch)
        supervisor = Supervisor(self.group, frame.clock, isolation, frame.child_limits)
        had.note("children", supervisor.close)
        figures = await self._work(had, supervisor, environment)
        self._keep(sweep_beside(scratch))
        if port is not None:
            self._answer_probes(had, port, figures)

    def why_not_ready(self) -> str | None:
        """Return what a probe is told while it is answered."""
        match self.conduct.state:
            case ConsumerState.STOPPING:
                return "the consumer is stopping"
            case ConsumerState.QUIET:
                return "the consumer was asked to take no more work"
            case ConsumerState.RUNNING:
                return None

    def _take_port(self, had: Belongings) -> socket.socket | None:
        settings = self.frame.settings
        port = take_port(settings.health_port, settings.health_host)
        if port is not None:
            had.note("health", lambda: _close(port))
        return port

    def _make_room(self, had: Belongings) -> Path:
        folder = self.frame.settings.scratch_dir
        folder.mkdir(parents=True, exist_ok=True)
        room = ExitStack()
        had.note("scratch", lambda: asyncio.to_thread(room.close))
        return room.enter_context(open_scratch(folder))

    async def _prove(self, scratch: Path) -> tuple[Isolation, Environment]:
        """Try engine, isolation and a browser; raises what is unfit, with the cure."""
        require_fit([probe_engine()])
        isolation = await choose_isolation(self.frame.ground(scratch, os.environ))
        trial = await try_child(isolation, self.frame.clock)
        environment = environment_of(trial.facts)
        log.info("consumer.proven", environment=environment.id, isolation=isolation.describe())
        return isolation, environment

    async def _work(
        self, had: Belongings, supervisor: Supervisor, environment: Environment
    ) -> Figures:
        """Claim, say that we are there, and look after what dead ones left; return our figures."""
        frame = self.frame
        consumer = introduce(frame, environment)
        side: ConsumerSide  # it and the heart need each other

        def running() -> Sequence[JobId]:
            return side.running_jobs()

        heart = Heartbeat(frame.db, frame.clock, consumer, environment, running, self.conduct)
        side = claiming_side(frame, consumer, supervisor, environment, heart)
        self.conduct.obeyed_by(lambda state: _obey(state, side))
        self.conduct.obeyed_by(lambda _state: heart.now.set())  # others should see it now
        self._begin_claims(had, side)
        had.note("row", heart.say_goodbye)
        await heart.register()
        self._keep(heart.run_forever())
        self._keep(reclaim_of(frame, consumer).run_guarded())
        figures = self._begin_periodic(had, consumer, side)
        because = frame.slot_sizes.because
        log.info("consumer.started", consumer=consumer.id, slots=consumer.slots, because=because)
        return figures

    def _begin_claims(self, had: Belongings, side: ConsumerSide) -> None:
        had.note("loops", lambda: _end(self.loops))
        claiming = self._keep(side.run_forever())
        had.note("claims", lambda: self._end_claims(side))
        had.note("settles", lambda: _ended(claiming))

    def _begin_periodic(self, had: Belongings, consumer: Consumer, side: ConsumerSide) -> Figures:
        frame = self.frame
        flush = flush_of(frame)
        had.note("figures", flush.flush_last)  # once no attempt can end any more
        self._keep(flush.run_forever())
        offices = offices_of(frame.settings, frame.db, frame.clock, consumer.id)
        leading = [self._keep(office.run_forever()) for office in offices]
        had.note("lead", lambda: _end(leading))  # it resigns when it is cancelled
        return figures_of(frame, consumer, side, flush, offices)

    async def _end_claims(self, side: ConsumerSide) -> None:
        """Give back what does not end in its share of the grace; what hangs is left to the next."""
        left_s = self.gate.remaining_s()
        with suppress(TimeoutError):
            stopping = side.stop(DRAIN_SHARE * left_s)
            await within(self.frame.clock, GIVE_BACK_SHARE * left_s, stopping)

    def _answer_probes(self, had: Belongings, port: socket.socket, figures: Figures) -> None:
        listen(port)
        over = asyncio.Event()
        answers = serve_health(port, self.why_not_ready, figures)
        answering = self.group.create_task(_answer_until(over, answers))

        async def end() -> None:
            over.set()
            await asyncio.wait({answering})

        had.note("health", end)

    def _keep(self, loop: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = self.group.create_task(loop)
        self.loops.append(task)
        return task


async def _ended(task: "asyncio.Task[None]") -> None:
    await asyncio.wait({task})


async def _end(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


async def _close(port: socket.socket) -> None:
    port.close()


async def _answer_until(over: asyncio.Event, answers: AbstractAsyncContextManager[int]) -> None:
    async with answers:
        await over.wait()


def _obey(state: ConsumerState, side: ConsumerSide) -> None:
    match state:
        case ConsumerState.RUNNING:
            side.resume()
        case ConsumerState.QUIET | ConsumerState.STOPPING:
            side.quiet()
