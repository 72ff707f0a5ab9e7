"""Hints between processes: sent after a commit, heard by whoever listens, never relied upon."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

import structlog

from storyshelf.clock import Clock
from storyshelf.queue.deadline import within

CHANNEL = "storyshelf_queue"
WORDS = frozenset({"work", "cancel"})
DEBOUNCE_S = 0.02  # one hint at once, and one for all that came within this time
PROBE_EVERY_S = 10.0  # a socket can be half open without a sign
PROBE_WITHIN_S = 5.0
RECONNECT_FIRST_S = 0.5
RECONNECT_CEILING_S = 15.0

NOTIFY = f"SELECT pg_notify('{CHANNEL}', word) FROM unnest($1::text[]) AS words(word)"  # noqa: S608  # a constant

log = structlog.get_logger(__name__)


class HintConnection(Protocol):
    """What is asked of the connection that carries hints; asyncpg's has it."""

    async def add_listener(self, channel: str, callback: Any) -> None:
        """Call back with (connection, pid of the sender, channel, payload)."""
        ...

    async def execute(self, query: str, *args: Any) -> str:
        """Run one statement."""
        ...

    def get_server_pid(self) -> int:
        """Return the backend that serves the connection, which is who its hints come from."""
        ...

    def terminate(self) -> None:
        """Drop the connection without a word."""
        ...


Connect = Callable[[], Awaitable[HintConnection]]


class HintLine:
    """One connection of its own: it sends this process's hints and hears those of the others.

    `on_word` is called with each word that another process sent, and with every word after a
    reconnect, since a hint may have been missed meanwhile. A hint that cannot be sent is kept for
    the next connection, and the pollers find the work before that.
    """

    def __init__(self, connect: Connect, clock: Clock, on_word: Callable[[str], None]) -> None:
        self.is_connected = False
        self._connect = connect
        self._connection: HintConnection | None = None
        self._clock = clock
        self._on_word = on_word
        self._unsent: set[str] = set()
        self._has_unsent = asyncio.Event()

    def send(self, words: frozenset[str]) -> None:
        """Have the other processes told soon; to be called after a commit, returns at once."""
        self._unsent |= words
        self._has_unsent.set()

    async def run_forever(self) -> None:
        """Keep the line up, with capped backoff, until cancelled."""
        wait_s = RECONNECT_FIRST_S
        while True:
            try:
                await within(self._clock, PROBE_WITHIN_S, self._open())
                wait_s = RECONNECT_FIRST_S
                await self._serve()
            except Exception as error:  # noqa: BLE001  # whatever broke, the cure is a new line
                log.warning("hints.disconnected", error=repr(error), again_in_s=wait_s)
            finally:
                self._drop()
            await self._clock.sleep(wait_s)
            wait_s = min(2 * wait_s, RECONNECT_CEILING_S)

    async def _open(self) -> None:
        # Kept at once, and not handed back: whoever is cancelled here must find it to drop it.
        self._connection = await self._connect()
        await self._connection.add_listener(CHANNEL, self._heard)

    async def _serve(self) -> None:
        connection = self._connection
        assert connection is not None, "opened just now"
        self.is_connected = True
        log.info("hints.connected")
        for word in sorted(WORDS):
            self._on_word(word)
        while True:
            if await self._clock.wait_for(self._has_unsent, PROBE_EVERY_S):
                await self._send(connection)
                await self._clock.sleep(DEBOUNCE_S)  # what comes meanwhile goes together
            else:
                await within(self._clock, PROBE_WITHIN_S, connection.execute("SELECT 1"))

    def _drop(self) -> None:
        self.is_connected = False
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it may be gone already
                connection.terminate()

    async def _send(self, connection: HintConnection) -> None:
        words = sorted(self._unsent)
        await within(self._clock, PROBE_WITHIN_S, connection.execute(NOTIFY, words))
        self._unsent -= set(words)
        if not self._unsent:
            self._has_unsent.clear()

    def _heard(self, connection: HintConnection, sender: int, _channel: str, word: str) -> None:
        if sender != connection.get_server_pid() and word in WORDS:
            self._on_word(word)
