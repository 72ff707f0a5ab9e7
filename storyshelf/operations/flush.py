"""Hands what a process has counted to the database: each batch once, whatever answers are lost."""

import asyncio
from dataclasses import dataclass, replace
from uuid import UUID

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.operations import metric_store
from storyshelf.operations.accumulator import Accumulator, Batch
from storyshelf.queue.deadline import within

EVERY_S = 10.0
ANSWER_WITHIN_S = 10.0
LAST_TRIES = 3  # at stop: figures are worth a second of the grace, and no more
LAST_PAUSE_S = 0.5

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A batch under the number that it is sent with, as often as that takes."""

    sequence: int
    batch: Batch


class Flush:
    """Flushes one process's accumulator; the nonce is of this run of the process alone.

    A batch that failed before its commit was sent is merged back. One whose commit got no answer
    may have been counted: it is sent again, unchanged and under its own number, before any other.
    """

    def __init__(
        self, db: Database, accumulator: Accumulator, clock: Clock, *, nonce: UUID
    ) -> None:
        self._db = db
        self._accumulator = accumulator
        self._clock = clock
        self._nonce = nonce
        self._sequence = 0
        self._doubtful: Numbered | None = None
        self._under_way = asyncio.Lock()
        self._has_warned = False
        self.failures = 0  # of tries, each of which kept what it could not flush

    async def run_forever(self) -> None:
        """Flush on a timer until cancelled; what fails is tried again."""
        while True:
            await self._clock.sleep(EVERY_S)
            await self._try()

    async def flush_last(self) -> None:
        """Flush what is left, once nothing ends any more; gives up after a few tries.

        The timer may still run meanwhile.
        """
        for _ in range(LAST_TRIES):
            if await self._try():
                return
            await self._clock.sleep(LAST_PAUSE_S)
        log.warning("metrics.left", minutes=self._accumulator.pending_minutes)

    async def _try(self) -> bool:
        try:
            await self.flush()
        except Exception as error:  # noqa: BLE001  # whatever it was, the counts are kept
            self.failures += 1
            if not self._has_warned:
                log.warning("metrics.flush_failed", error=repr(error))
            self._has_warned = True
            return False
        self._has_warned = False
        return True

    async def flush(self) -> None:
        """Flush what is there; raises what kept it, and nothing is lost by that."""
        async with self._under_way:
            await self._settle_doubt()
            batch = self._accumulator.drain()
            if batch:  # else not a word: an idle system is quiet
                self._sequence += 1
                await self._send(Numbered(self._sequence, batch))

    async def _settle_doubt(self) -> None:
        doubtful = self._doubtful
        if doubtful is None:
            return
        fresh = self._accumulator.still_worth(doubtful.batch)
        again = replace(doubtful, batch=fresh)  # empty, it still asks whether it has been counted
        if await within(self._clock, ANSWER_WITHIN_S, self._transact(again, [])):
            self._accumulator.give_up(doubtful.batch, but=fresh)
        self._doubtful = None

    async def _send(self, numbered: Numbered) -> None:
        written: list[Numbered] = []
        try:
            await within(self._clock, ANSWER_WITHIN_S, self._transact(numbered, written))
        except BaseException:  # also when cancelled: the last flush comes after that
            if written:
                self._doubtful = numbered
            else:
                self._accumulator.merge_back(numbered.batch)
            raise

    async def _transact(self, numbered: Numbered, written: list[Numbered]) -> bool:
        """Write the batch, unless it is there; it is in `written` once only the commit can fail."""
        number = (self._nonce, numbered.sequence)
        async with self._db.transaction() as tx:
            now = self._clock.monotonic()
            is_new = await metric_store.add(tx, number, numbered.batch, now)
            written.append(numbered)
        return is_new
