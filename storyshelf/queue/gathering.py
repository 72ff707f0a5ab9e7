"""Natural batching: what arrives while the last batch is under way goes into the next."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gathering(Generic[Item, Result]):
    """Hands items on in batches; no timer, so an item that comes alone goes at once.

    Whoever finds nothing under way hands on all that waits. Should that caller be cancelled, its
    batch is taken up by the next one.
    """

    def __init__(self, handle: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]) -> None:
        self._handle = handle
        self._under_way = asyncio.Lock()
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []

    async def add(self, item: Item) -> Result:
        """Return the item's own result, once its batch is through."""
        own: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, own))
        try:
            async with self._under_way:
                if not own.done():
                    await self._hand_on()
            return await own
        except asyncio.CancelledError:
            own.cancel()
            raise

    async def _hand_on(self) -> None:
        batch = [(item, future) for item, future in self._waiting if not future.done()]
        self._waiting = []
        try:
            results = await self._handle([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001  # each caller is handed it
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        except asyncio.CancelledError:
            self._waiting = [*batch, *self._waiting]
            raise
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
