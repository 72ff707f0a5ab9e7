import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.tally import Tally
from storyshelf.queue.wakeup import CHANNEL, HEARD_EVERY_S, PROBE_EVERY_S, WORDS, HintLine
from tests.fakes import FakeClock
from tests.queue.builders import until


class Wire:
    """A connection in memory; it can refuse to open, fall silent, or break."""

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        self.probes = 0
        self.opened = 0
        self.terminated = 0
        self.refusals = 0
        self.is_broken = False
        self.is_silent = False
        self.callback: Any = None
        self.while_sending: Callable[[], None] = lambda: None
        self.is_passing = asyncio.Event()
        self.is_passing.set()

    async def connect(self) -> "Wire":
        if self.refusals:
            self.refusals -= 1
            raise ConnectionRefusedError
        self.opened += 1
        return self

    async def add_listener(self, channel: str, callback: Any) -> None:
        self.callback = callback

    async def execute(self, query: str, *args: Any) -> str:
        if self.is_silent:
            await asyncio.Event().wait()
        if self.is_broken:
            raise asyncpg.InterfaceError("connection is closed")
        await self.is_passing.wait()
        if args:
            self.sent.append(list(args[0]))
            self.while_sending()
        else:
            self.probes += 1
        return ""

    def get_server_pid(self) -> int:
        return 1

    def terminate(self) -> None:
        self.terminated += 1


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def wire() -> Wire:
    return Wire()


@asynccontextmanager
async def a_line(wire: Wire, clock: FakeClock, heard: list[str]) -> AsyncIterator[HintLine]:
    line = HintLine(wire.connect, clock, heard.append)
    async with running(line):
        await clock.settle()
        heard.clear()
        yield line


@asynccontextmanager
async def running(line: HintLine) -> AsyncIterator[None]:
    task = asyncio.create_task(line.run_forever())
    yield
    task.cancel()
    await asyncio.wait({task})


async def test_a_hint_goes_out_at_once_and_those_that_follow_go_together(
    wire: Wire, clock: FakeClock
) -> None:
    async with a_line(wire, clock, []) as line:
        line.send(frozenset({"work"}))
        await clock.settle()
        assert wire.sent == [["work"]]
        for _ in range(5):
            line.send(frozenset({"work"}))
        line.send(frozenset({"cancel"}))
        await clock.advance(0.019)
        assert len(wire.sent) == 1
        await clock.advance(0.001)
    assert wire.sent == [["work"], ["cancel", "work"]]


async def test_a_hint_of_a_commit_that_came_while_one_was_being_sent_is_sent_too(
    wire: Wire, clock: FakeClock
) -> None:
    async with a_line(wire, clock, []) as line:

        def commit_once_more() -> None:
            wire.while_sending = lambda: None
            line.send(frozenset({"work"}))

        wire.while_sending = commit_once_more
        line.send(frozenset({"work"}))
        await clock.advance(0.1)
    assert wire.sent == [["work"], ["work"]]


async def test_the_last_hint_is_waited_for_also_while_it_is_on_its_way(
    wire: Wire, clock: FakeClock
) -> None:
    async with a_line(wire, clock, []) as line:
        await line.say_the_last(1)  # there is none yet
        wire.is_passing.clear()
        line.send(frozenset({"work"}))
        await clock.settle()
        saying = asyncio.create_task(line.say_the_last(1))
        await clock.settle()
        assert not saying.done()
        wire.is_passing.set()
        await clock.settle()
        assert saying.done()
    assert wire.sent == [["work"]]


async def test_hints_of_others_are_heard_and_its_own_are_not(wire: Wire, clock: FakeClock) -> None:
    heard: list[str] = []
    async with a_line(wire, clock, heard):
        wire.callback(wire, 1, CHANNEL, "work")
        wire.callback(wire, 2, CHANNEL, "cancel")
        wire.callback(wire, 2, CHANNEL, "a word of a later version")
    assert heard == ["cancel"]


async def test_a_flood_of_a_word_is_acted_on_twenty_times_a_second(
    wire: Wire, clock: FakeClock
) -> None:
    heard: list[str] = []
    async with a_line(wire, clock, heard):
        await clock.advance(1)
        for _ in range(1_000):
            wire.callback(wire, 2, CHANNEL, "work")
            await clock.advance(0.001)
    assert 19 <= heard.count("work") <= 21


async def test_the_last_hint_of_a_flood_is_acted_on_too_and_other_words_do_not_wait_for_it(
    wire: Wire, clock: FakeClock
) -> None:
    heard: list[str] = []
    async with a_line(wire, clock, heard):
        await clock.advance(1)
        for word in ("work", "work", "work", "cancel"):
            wire.callback(wire, 2, CHANNEL, word)
        assert heard == ["work", "cancel"]
        await clock.advance(HEARD_EVERY_S)
        assert heard == ["work", "cancel", "work"]
        await clock.advance(1)
    assert heard == ["work", "cancel", "work"]


async def test_what_others_sent_is_counted_and_a_new_connection_is_not(
    wire: Wire, clock: FakeClock
) -> None:
    tally = Tally()
    async with running(HintLine(wire.connect, clock, lambda _word: None, tally=tally)):
        await clock.advance(1)
        assert tally.hints_heard == 0
        for _ in range(3):
            wire.callback(wire, 2, CHANNEL, "work")
    assert tally.hints_heard == 3


async def test_a_quiet_line_is_probed_again_and_again(wire: Wire, clock: FakeClock) -> None:
    async with a_line(wire, clock, []):
        await clock.advance(6 * PROBE_EVERY_S)
    assert wire.probes == 6


async def test_a_line_that_falls_silent_is_replaced_and_everything_is_looked_at(
    wire: Wire, clock: FakeClock
) -> None:
    heard: list[str] = []
    async with a_line(wire, clock, heard) as line:
        wire.is_silent = True
        states = [await connected_after(clock, line, seconds) for seconds in (13.9, 0.2)]
        wire.is_silent = False
        states.append(await connected_after(clock, line, 0.5))
    assert states == [True, False, True]
    assert (wire.opened, wire.terminated) == (2, 2)
    assert heard == sorted(WORDS)


async def test_a_hint_that_could_not_be_sent_goes_out_on_the_next_line(
    wire: Wire, clock: FakeClock
) -> None:
    async with a_line(wire, clock, []) as line:
        wire.is_broken = True
        line.send(frozenset({"work"}))
        await clock.settle()
        wire.is_broken = False
        await clock.advance(1)
    assert wire.sent == [["work"]]


async def test_reconnecting_is_slowed_down_to_a_ceiling(wire: Wire, clock: FakeClock) -> None:
    wire.refusals = 8
    async with a_line(wire, clock, []) as line:
        before_s = 0.5 + 1 + 2 + 4 + 8 + 15 + 15 + 14.9
        assert not await connected_after(clock, line, before_s)
        assert await connected_after(clock, line, 0.2)


async def connected_after(clock: FakeClock, line: HintLine, seconds: float) -> bool:
    await clock.advance(seconds)
    return line.is_connected


@asynccontextmanager
async def a_real_line(db: Database, clock: Clock, heard: list[str]) -> AsyncIterator[HintLine]:
    line = HintLine(db.direct_connection, clock, heard.append)
    async with running(line):
        await until(lambda: line.is_connected)
        heard.clear()
        yield line


async def test_a_hint_reaches_another_process_through_the_database(db: Database) -> None:
    here: list[str] = []
    there: list[str] = []
    async with (
        a_real_line(db, SystemClock(), here) as line,
        a_real_line(db, SystemClock(), there),
    ):
        line.send(frozenset({"work"}))
        await until(lambda: there == ["work"])
    assert here == []


async def test_a_line_whose_backend_was_killed_comes_back(db: Database) -> None:
    heard: list[str] = []
    clock = FakeClock()
    async with a_real_line(db, clock, heard) as line:
        async with db.transaction() as tx:
            await tx.execute(
                text(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE application_name LIKE '% hints' AND datname = current_database()"
                )
            )
        line.send(frozenset({"work"}))
        await until(lambda: not line.is_connected)
        await clock.advance(0.5)
        await until(lambda: line.is_connected)
    assert heard == sorted(WORDS)
