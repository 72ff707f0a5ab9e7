"""Hints between processes: sent after a commit, heard by whoever listens, never relied upon."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

import structlog

from storyshelf.clock import Clock
from storyshelf.queue.deadline import within
from storyshelf.queue.tally import Tally

CHANNEL = "storyshelf_queue"
WORDS = frozenset({"work", "cancel", "consumers"})
DEBOUNCE_S = 0.02  # one hint at once, and one for all that came within this time
HEARD_EVERY_S = 0.05  # a word is acted on 20 times a second at most, whoever sends it how often
PROBE_EVERY_S = 9.0  # a socket can be half open without a sign; with what follows, 15 s
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
Probe = Callable[[HintConnection], Coroutine[Any, Any, object]]


def ask_one(connection: HintConnection) -> Coroutine[Any, Any, object]:
    """Ask the least there is."""
    return connection.execute("SELECT 1")


class Ear:
    """Hands on what is heard: a word at once, and one for all of its kind that come soon after.

    Whoever may enter the database may send hints, as many as it likes; here they become few.
    """

    def __init__(self, clock: Clock, on_word: Callable[[str], None]) -> None:
        self._clock = clock
        self._on_word = on_word
        self._told_at: dict[str, float] = {}
        self._waiting: set[str] = set()
        self._has_waiting = asyncio.Event()

    def hear(self, word: str) -> None:
        """Hand the word on, now or within HEARD_EVERY_S."""
        if word in self._waiting:
            return
        told_at = self._told_at.get(word)
        if told_at is None or self._clock.monotonic() - told_at >= HEARD_EVERY_S:
            self._tell(word)
            return
        self._waiting.add(word)
        self._has_waiting.set()

    async def run_forever(self) -> None:
        """Hand on what had to wait, until cancelled."""
        while True:
            await self._has_waiting.wait()
            await self._clock.sleep(HEARD_EVERY_S)
            self._has_waiting.clear()
            words, self._waiting = self._waiting, set()
            for word in sorted(words):
                self._tell(word)

    def _tell(self, word: str) -> None:
        self._told_at[word] = self._clock.monotonic()
        self._on_word(word)


class HintLine:
    """One connection of its own: it sends this process's hints and hears those of the others.

    `on_word` is called with each word that another process sent, as often as an Ear lets through,
    and with every word after a reconnect, since a hint may have been missed meanwhile. A hint that
    cannot be sent is kept for the next connection, and the pollers find the work before that.
    `probe` is asked when nothing was sent for a while; it must be cheap, and may be of use.
    """

    def __init__(
        self,
        connect: Connect,
        clock: Clock,
        on_word: Callable[[str], None],
        probe: Probe = ask_one,
        tally: Tally | None = None,
    ) -> None:
        self._tally = tally or Tally()
        self._ear = Ear(clock, on_word)
        self._probe = probe
        self._said = asyncio.Event()  # all that was to be; what is on its way is not yet
        self._said.set()
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
        self._said.clear()

    async def say_the_last(self, within_s: float) -> None:
        """Wait until what was to be sent is sent, at most that long, and not while it is down."""
        if self.is_connected:
            await self._clock.wait_for(self._said, within_s)

    async def run_forever(self) -> None:
        """Keep the line up, with capped backoff, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._ear.run_forever())
            await self._keep_up()

    async def _keep_up(self) -> None:
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
                await within(self._clock, PROBE_WITHIN_S, self._probe(connection))

    def _drop(self) -> None:
        self.is_connected = False
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it may be gone already
                connection.terminate()

    async def _send(self, connection: HintConnection) -> None:
        words, self._unsent = self._unsent, set()  # what comes meanwhile is of a later commit
        self._has_unsent.clear()
        try:
            await within(self._clock, PROBE_WITHIN_S, connection.execute(NOTIFY, sorted(words)))
        except BaseException:
            self.send(frozenset(words))
            raise
        if not self._unsent:
            self._said.set()

    def _heard(self, connection: HintConnection, sender: int, _channel: str, word: str) -> None:
        if sender != connection.get_server_pid() and word in WORDS:
            self._tally.hints_heard += 1
            self._ear.hear(word)
