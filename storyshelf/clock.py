"""The only place that reads the time or sleeps; everyone else is handed a Clock."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time, monotonic time and waiting, so that a test can own all three."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only rise; the origin means nothing."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for that long."""
        ...

    async def wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait until the event is set, at most that long; return whether it was set."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """See Clock."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        await asyncio.sleep(seconds)

    async def wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        """See Clock."""
        # Not asyncio.wait_for: on Python 3.11 it swallows a cancellation that comes in the turn of
        # the event, and a loop that waits here would then never end.
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await event.wait()
        except TimeoutError:
            return False
        return True
