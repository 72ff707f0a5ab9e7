"""The consumer's row: written at boot, kept fresh, gone at the end; it also carries wishes back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from consumer.environment import Environment
from storyshelf.builds.store import know_environment
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.store import Beat, Consumer, ConsumerState

BEAT_EVERY_S = 10.0
SILENT_FOR = timedelta(minutes=5)  # then a row is removed; its jobs are freed by their leases

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Beats for one consumer; `on_wish` hears the state that somebody asks it to be in."""

    db: Database
    clock: Clock
    consumer: Consumer
    environment: Environment
    says: Callable[[], Beat]
    on_wish: Callable[[ConsumerState], None]

    async def register(self) -> None:
        """Say that the consumer is there, and what its environment stands for."""
        async with self.db.transaction() as tx:
            await know_environment(tx, self.environment.id, self.environment.facts)
            await store.register_consumer(tx, self.consumer)

    async def run_forever(self) -> None:
        """Beat until cancelled; an outage of the database is waited out."""
        while True:
            await self.clock.sleep(BEAT_EVERY_S)
            try:
                await self.beat()
            except Exception as error:  # noqa: BLE001  # the next beat tries again
                log.warning("heartbeat.failed", error=repr(error))

    async def say_goodbye(self) -> None:
        """Remove the row."""
        async with self.db.transaction() as tx:
            await store.remove_consumer(tx, self.consumer.id)

    async def beat(self) -> None:
        """Beat once, and hear what is wished."""
        async with self.db.transaction() as tx:
            wish = await store.beat(tx, self.consumer.id, self.says())
            await store.remove_silent_consumers(tx, SILENT_FOR)
        if wish is None:
            await self.register()
        elif wish is not ConsumerState.RUNNING:
            self.on_wish(wish)
