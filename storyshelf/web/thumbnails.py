"""Thumbnails: made when they are first asked for, kept in memory, and in browsers for ever.

One takes about 30 ms and 10 kB. So they are made again after a restart, and no file or row has to
be cleaned up after them.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from storyshelf.diff.thumbnail import shrink
from storyshelf.ids import BlobKey

MAX_KEPT_BYTES = 64 << 20  # some 6,000 of them
AT_ONCE = 2  # threads, and pictures decoded in memory


class Thumbnails:
    """The thumbnails asked for last, by the keys of their pictures."""

    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._kept: OrderedDict[BlobKey, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._max_kept_bytes = max_kept_bytes
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def of(self, key: BlobKey, read: Callable[[BlobKey], Awaitable[bytes]]) -> bytes:
        """Return the thumbnail as WebP; raises BadPngError, and what `read` raises."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        async with self._turns:
            if key not in self._kept:  # else somebody made it meanwhile
                self._keep(key, await asyncio.to_thread(shrink, await read(key)))
        return self._kept[key]

    def _keep(self, key: BlobKey, thumbnail: bytes) -> None:
        self._kept_bytes += len(thumbnail) - len(self._kept.get(key, b""))  # two may have made it
        self._kept[key] = thumbnail
        while self._kept_bytes > self._max_kept_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest)
