"""The heartbeat of a child: said by its own loop, so that it stops when that loop does.

A request has its own deadline. The pulse is for what no request is waiting for: a child that was
stopped by a signal, or whose loop hangs, while it starts, idles, or is lent between two requests.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from consumer.channel import Channel, ChannelClosedError, ChannelDeadlineError
from consumer.messages import Alive, FromChild, ToChild
from storyshelf.clock import Clock

BEAT_EVERY_S = 5.0
SILENT_LOOKS = 4  # 20 s without a word; a browser's start on a busy machine blocks no loop so long
BEATS_BEFOREHAND = 100  # more than one a second beyond these is a flood, not a heartbeat
WRITE_S = 60.0  # a parent that takes nothing for so long is as good as gone


class Pulse:
    """What the parent feels of it.

    Looks are counted, not seconds: a parent that was stopped itself has looked once in all that
    time, and does not take its own absence for the child's silence.
    """

    def __init__(self, silent_looks: int, began_at: float) -> None:
        self._silent_looks = silent_looks
        self._began_at = began_at
        self._heard = True
        self._misses = 0
        self._beats = 0

    def hear(self) -> None:
        """Note a message of any kind."""
        self._heard = True

    def is_flooded(self, now: float) -> bool:
        """Note a heartbeat; tell whether there were more than a child has reason to send."""
        self._beats += 1
        return self._beats > BEATS_BEFOREHAND + (now - self._began_at)

    def is_gone(self) -> bool:
        """Look once; tell whether that was one silent look too many."""
        self._misses = 0 if self._heard else self._misses + 1
        self._heard = False
        return self._misses >= self._silent_looks


@asynccontextmanager
async def beating(channel: Channel[ToChild, FromChild], clock: Clock) -> AsyncIterator[None]:
    """Say at once and every few seconds that this child's loop turns, until the block ends."""
    task = asyncio.ensure_future(_beat_forever(channel, clock))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _beat_forever(channel: Channel[ToChild, FromChild], clock: Clock) -> None:
    with suppress(ChannelClosedError, ChannelDeadlineError):  # the reader sees it, and ends us
        while True:
            await channel.write(Alive(), WRITE_S)
            await clock.sleep(BEAT_EVERY_S)
