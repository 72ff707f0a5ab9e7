"""Hand-written stand-ins, small and honest; one for each thing a test must own."""

import asyncio
import heapq
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from storyshelf.ids import BlobKey
from storyshelf.storage.blobs import MissingBlobError, WrongContentError, key_of

EPOCH = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
MAX_ROUNDS = 10_000  # a task that yields for ever would otherwise hang the test without a word


@dataclass(order=True, slots=True)
class _Sleeper:
    due: float
    order: int
    woken: asyncio.Future[None] = field(compare=False)


class FakeClock:
    """A `storyshelf.clock.Clock` whose time moves only when the test says so.

    `advance` stops at each sleeper on the way, in order of due time and then of arrival, and lets
    every task run until nothing is ready before it moves on: a loop that sleeps 5 s wakes three
    times in `advance(15)`, and sees 5, 10 and 15 on the clock.
    """

    def __init__(self, start: datetime = EPOCH) -> None:
        self._start = start
        self._elapsed = 0.0
        self._sleepers: list[_Sleeper] = []
        self._arrivals = 0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    @property
    def sleeping(self) -> int:
        """How many tasks wait on this clock."""
        return sum(not sleeper.woken.done() for sleeper in self._sleepers)

    @property
    def longest_sleep(self) -> float:
        """How long it is until the last of them is due; 0 if nobody waits."""
        due = (each.due for each in self._sleepers if not each.woken.done())
        return max(due, default=self._elapsed) - self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await _yield_once()
            return
        await self._sleeper(seconds).woken

    async def wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set() or seconds <= 0:
            return event.is_set()
        sleeper = self._sleeper(seconds)
        setting = asyncio.ensure_future(event.wait())
        either: set[asyncio.Future[Any]] = {sleeper.woken, setting}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return setting.done() or event.is_set()
        finally:
            setting.cancel()
            sleeper.woken.cancel()

    async def advance(self, by: timedelta | float) -> None:
        """Move time on, waking whoever is due on the way, and return when all of them have run."""
        seconds = by.total_seconds() if isinstance(by, timedelta) else by
        target = self._elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0].due <= target:
            sleeper = heapq.heappop(self._sleepers)
            if sleeper.woken.done():
                continue  # cancelled, or its event came first
            self._elapsed = max(self._elapsed, sleeper.due)
            sleeper.woken.set_result(None)
            await self.settle()
        self._elapsed = target
        await self.settle()

    async def settle(self) -> None:
        """Let every ready task run until all of them wait for something; time stands still."""
        ready = cast("deque[object]", vars(asyncio.get_running_loop())["_ready"])
        for _ in range(MAX_ROUNDS):
            await _yield_once()
            if not ready:
                return
        raise AssertionError(f"a task is still busy after {MAX_ROUNDS} rounds: does it spin?")

    def _sleeper(self, seconds: float) -> _Sleeper:
        self._arrivals += 1
        woken = asyncio.get_running_loop().create_future()
        sleeper = _Sleeper(self._elapsed + seconds, self._arrivals, woken)
        heapq.heappush(self._sleepers, sleeper)
        return sleeper


class MemoryBlobs:
    """A `storyshelf.storage.blobs.Blobs` that forgets; it passes the suite of the real ones."""

    def __init__(self) -> None:
        self.contents: dict[BlobKey, bytes] = {}

    async def put(self, content: bytes) -> BlobKey:
        key = key_of(content)
        self.contents[key] = content
        return key

    async def receive(self, key: BlobKey, size_bytes: int, chunks: AsyncIterator[bytes]) -> None:
        content = b""
        async for chunk in chunks:
            content += chunk
            if len(content) > size_bytes:
                raise WrongContentError(key, f"more than {size_bytes} bytes arrived")
        if len(content) != size_bytes:
            raise WrongContentError(key, f"{len(content)} of {size_bytes} bytes arrived")
        if key_of(content) != key:
            raise WrongContentError(key, f"its sha256 is {key_of(content)}")
        self.contents[key] = content

    async def read(self, key: BlobKey) -> bytes:
        if key not in self.contents:
            raise MissingBlobError(key)
        return self.contents[key]

    async def read_part(self, key: BlobKey, start: int, size_bytes: int) -> bytes:
        return (await self.read(key))[start : start + size_bytes]

    async def place(self, key: BlobKey, target: Path) -> None:
        content = await self.read(key)
        with target.open("xb") as file:
            file.write(content)

    async def remove(self, key: BlobKey) -> None:
        self.contents.pop(key, None)


async def _yield_once() -> None:
    await asyncio.sleep(0)  # noqa: TID251  # gives the turn away; no time passes
