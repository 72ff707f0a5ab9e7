"""Natural batching: what arrives while the last batch is under way goes into the next."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context
from typing import Any, Generic, TypeVar

import structlog

Item = TypeVar("Item")

log = structlog.get_logger(__name__)


class Gathering(Generic[Item]):
    """Hands items on in batches; no timer, but all that come in one turn of the loop go together.

    One task hands on, for as long as something waits; it is held here, and who owns the gathering
    stops it. `hand_on` should raise nothing: a batch on which it does is logged and lost, and what
    waits behind it goes on all the same.
    """

    def __init__(self, hand_on: Callable[[Sequence[Item]], Coroutine[Any, Any, None]]) -> None:
        self._hand_on = hand_on
        self._waiting: list[Item] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, item: Item) -> None:
        """Have the item handed on with the next batch."""
        self._waiting.append(item)
        if self._task is None:  # it is nobody's own, so its lines name nobody
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._hand_on_all(), context=Context())

    @property
    def task(self) -> "asyncio.Task[None] | None":
        """The task that hands on, if anything is on its way."""
        return self._task

    async def _hand_on_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._hand_on_guarded(batch)
        finally:
            self._task = None

    async def _hand_on_guarded(self, batch: Sequence[Item]) -> None:
        try:
            await self._hand_on(batch)
        except Exception:  # nobody waits for the task, so nobody else would ever say it
            log.exception("gathering.batch_failed", items=len(batch))
