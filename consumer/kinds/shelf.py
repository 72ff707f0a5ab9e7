"""Where pictures are put: a storage that is full is waited for, since nothing is captured twice."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from storyshelf.clock import Clock
from storyshelf.ids import BlobKey
from storyshelf.storage.blobs import Blobs, FullStorageError

FIRST_WAIT_S = 1.0
WAIT_CEILING_S = 60.0
GIVE_UP_AFTER_S = 3_600.0  # then the attempt fails, and what other attempts there are wait as long
TOUCH_EVERY_S = 1.0  # well within the shortest lease

log = structlog.get_logger(__name__)

Tell = Callable[[], Awaitable[None]]


async def told_to_nobody() -> None:
    """Raise and lower no alarm."""


@dataclass(slots=True)
class Shelf:
    """Puts contents into the blob storage, and waits while there is no room for one.

    The attempt keeps its lease and its slot meanwhile: another one would find the same disk.
    `when_full` is awaited for each try in vain, `when_room` for the first success after one; and
    for the first of all, since the process before this one may have ended while it waited.
    """

    blobs: Blobs
    clock: Clock
    when_full: Tell = told_to_nobody
    when_room: Tell = told_to_nobody
    _was_full: bool = field(default=True, init=False)

    async def put(self, content: bytes, touch: Callable[[], None]) -> BlobKey:
        """Put it and return its key; raises FullStorageError after an hour without room."""
        give_up_at = self.clock.monotonic() + GIVE_UP_AFTER_S
        wait_s = FIRST_WAIT_S
        while True:
            try:
                key = await self.blobs.put(content)
            except FullStorageError:
                if self.clock.monotonic() >= give_up_at:
                    raise
            else:
                await self._note_room()
                return key
            await self._note_full(wait_s)
            await self._wait(wait_s, touch)
            wait_s = min(2 * wait_s, WAIT_CEILING_S)

    async def _wait(self, wait_s: float, touch: Callable[[], None]) -> None:
        until = self.clock.monotonic() + wait_s
        while (left_s := until - self.clock.monotonic()) > 0:
            touch()
            await self.clock.sleep(min(TOUCH_EVERY_S, left_s))
        touch()

    async def _note_full(self, wait_s: float) -> None:
        self._was_full = True
        log.error("storage.waited_for", again_in_s=wait_s)
        await _guarded(self.when_full)

    async def _note_room(self) -> None:
        if self._was_full:
            self._was_full = False
            await _guarded(self.when_room)


async def _guarded(tell: Tell) -> None:
    try:
        await tell()
    except Exception as error:  # noqa: BLE001  # the database's disk may be full as well
        log.warning("storage.untold", error=repr(error))
