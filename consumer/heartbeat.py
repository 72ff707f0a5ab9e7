"""The consumer's row: written at boot, kept fresh, gone at the end; it also carries wishes back."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import structlog

from consumer.conduct import Conduct
from consumer.environment import Environment
from storyshelf.builds.environment_store import know_environment
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.db.line import Fetches, Line
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.store import Beat, Consumer, ConsumerState
from storyshelf.queue.wakeup import HintConnection

# Three may fail before others take it for silent (60 s). Over the 9 s of the probes, which beat.
BEAT_EVERY_S = 15.0
LEAST_GAP_S = 1.0  # between two beats that are asked for: whoever may send hints may send many
FORGOTTEN_AFTER = timedelta(minutes=5)  # then a row is removed; its jobs are freed by their leases

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Heartbeat:
    """Beats for one consumer: says what it works on, and hears what is asked of it.

    While hints flow, the probe of their line is the beat (`beat_on`), so that an idle consumer asks
    one thing less; where no probe came for a while, `run_forever` beats.
    """

    db: Database
    clock: Clock
    consumer: Consumer
    environment: Environment
    running: Callable[[], Sequence[JobId]]
    conduct: Conduct
    now: asyncio.Event = field(default_factory=asyncio.Event)  # set, it beats at once
    _beaten_at: float | None = field(default=None, init=False)  # None: the row is not there yet
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _has_left: bool = field(default=False, init=False)

    async def register(self) -> None:
        """Say that the consumer is there, and what its environment stands for."""
        async with self.db.transaction() as tx:
            await know_environment(tx, self.environment.id, self.environment.facts)
            await store.register_consumer(tx, self.consumer)
            if self.conduct.state is not ConsumerState.RUNNING:
                await store.mark_consumer(tx, self.consumer.id, self.conduct.state)
        self._beaten_at = self.clock.monotonic()

    async def run_forever(self) -> None:
        """Beat until cancelled; an outage of the database is waited out."""
        tried_at = self.clock.monotonic()
        while True:
            since = tried_at if self._beaten_at is None else max(tried_at, self._beaten_at)
            wait_s = since + BEAT_EVERY_S - self.clock.monotonic()
            if wait_s > 0 and not await self.clock.wait_for(self.now, wait_s):
                continue  # a probe may have beaten meanwhile
            self.now.clear()
            await self._beat_guarded()
            tried_at = self.clock.monotonic()
            await self.clock.sleep(LEAST_GAP_S)

    async def beat(self) -> None:
        """Beat once, and hear what is wished."""
        async with self._alone:
            if self._has_left:
                return
            async with self.db.transaction() as tx:
                told, written = await self._tell(tx)
            await self._hear(told, written)

    async def beat_on(self, connection: HintConnection) -> None:
        """Beat in one trip, on a line that has to be probed anyway.

        Before the row is written it only probes: a row that is not there yet was not removed.
        """
        line = Line(lambda: _itself(connection), lambda _words: None)
        async with self._alone:
            told, written = await self._tell(line)
            if self._beaten_at is not None and not self._has_left:
                await self._hear(told, written)

    async def say_goodbye(self) -> None:
        """Remove the row; no beat that was under way writes it again."""
        self._has_left = True
        async with self._alone, self.db.transaction() as tx:
            await store.remove_consumer(tx, self.consumer.id)

    async def _beat_guarded(self) -> None:
        try:
            await self.beat()
        except Exception as error:  # noqa: BLE001  # the next beat tries again
            log.warning("heartbeat.failed", error=repr(error))

    async def _tell(self, on: Fetches) -> tuple[ConsumerState | None, ConsumerState | None]:
        """Return what the row was told, and what it says now."""
        told = self.conduct.untold
        said = Beat(self.running(), told)
        return told, await store.beat(on, self.consumer.id, said, FORGOTTEN_AFTER)

    async def _hear(self, told: ConsumerState | None, written: ConsumerState | None) -> None:
        if written is None:  # it was taken for dead
            await self.register()
            return
        self._beaten_at = self.clock.monotonic()
        self.conduct.hear(written, told)


async def _itself(connection: HintConnection) -> Any:
    return cast("Any", connection)
