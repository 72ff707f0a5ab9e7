"""A network between consumers and Postgres that can stall, drop, delay and lose an answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy.engine.url import make_url

from bench.chaos.wire import Said, Talk
from storyshelf.clock import Clock, SystemClock

HINTS = b"hints"  # in the application name of a line that carries hints


class AnySide(Protocol):
    """Chooses the connections that a fault is for."""

    def __call__(self, talk: Talk, /) -> bool:
        """Say whether it is for this one."""
        ...


def every_one(_talk: Talk) -> bool:
    """Choose all connections."""
    return True


def hint_lines(talk: Talk) -> bool:
    """Choose the connections that hear hints."""
    return HINTS in talk.startup


@dataclass(slots=True, eq=False)
class Line:
    """One connection through the proxy: both its ends, and what was understood of it."""

    near: asyncio.StreamWriter
    far: asyncio.StreamWriter
    talk: Talk = field(default_factory=Talk)

    def abort(self) -> None:
        """Break both ends at once."""
        for end in (self.near, self.far):
            end.transport.abort()


@dataclass(slots=True)
class Proxy:
    """Passes bytes on, as long as nothing is wrong."""

    host: str
    port: int
    clock: Clock = field(default_factory=SystemClock)
    delay_s: float = 0.0  # of every answer
    answers_to_lose: int = 0  # of settles that have been committed
    lost_answers: int = 0
    lines: set[Line] = field(default_factory=set)
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    _silent: AnySide | None = None
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)

    def stall(self, which: AnySide = every_one) -> None:
        """Keep everything that is sent on these connections, and say nothing: half open."""
        self._flowing.clear()
        self._silent = which

    def stall_now(self, which: AnySide) -> None:
        """Stall those there are; whoever connects anew is not kept."""
        stalled = [line.talk for line in self.lines if which(line.talk)]
        self.stall(lambda talk: any(talk is each for each in stalled))

    def flow(self) -> None:
        """Pass on again, what was kept first."""
        self._silent = None
        self._flowing.set()

    def drop(self) -> int:
        """Break every connection; return how many there were."""
        broken = len(self.lines)
        for line in tuple(self.lines):
            line.abort()
        return broken

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        task = asyncio.current_task()
        assert task is not None, "asyncio runs it as one"
        self._tasks.add(task)
        try:
            far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
            line = Line(writer, far_writer)
            self.lines.add(line)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._ask(reader, line))
                    both.create_task(self._answer(far_reader, line))
            finally:
                self.lines.discard(line)
                line.abort()
        except (ExceptionGroup, OSError, asyncio.CancelledError):
            writer.transport.abort()  # a broken connection is what this is for
        finally:
            self._tasks.discard(task)

    async def end(self) -> None:
        """End every connection."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _ask(self, source: asyncio.StreamReader, line: Line) -> None:
        while piece := await source.read(65536):
            line.talk.asked(piece)
            await self._pass(piece, line.far, line)
        line.abort()

    async def _answer(self, source: asyncio.StreamReader, line: Line) -> None:
        while piece := await source.read(65536):
            said = line.talk.answered(piece)
            if said is Said.SETTLED and self.answers_to_lose:
                self.answers_to_lose -= 1
                self.lost_answers += 1
                break
            if self.delay_s:
                await self.clock.sleep(self.delay_s)
            await self._pass(piece, line.near, line)
        line.abort()

    async def _pass(self, piece: bytes, target: asyncio.StreamWriter, line: Line) -> None:
        while self._silent is not None and self._silent(line.talk):
            self._flowing.clear()
            await self._flowing.wait()
        target.write(piece)
        await target.drain()


@asynccontextmanager
async def a_proxy(url: str, address: str = "127.0.0.1") -> AsyncIterator[tuple[Proxy, str]]:
    """Listen there for as long as the block lasts; also return the url through it."""
    far = make_url(url)
    proxy = Proxy(far.host or "127.0.0.1", far.port or 5432)
    async with await asyncio.start_server(proxy.serve, address, 0) as server:
        port = server.sockets[0].getsockname()[1]
        near = far.set(host=address, port=port)
        try:
            yield proxy, near.render_as_string(hide_password=False)
        finally:
            await proxy.end()
