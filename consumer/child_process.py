"""One child as the operating system sees it: started, listened to, killed with its whole group."""

import asyncio
import os
import signal
import socket
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from consumer import memory, processes
from consumer.cell import Cell
from consumer.channel import Channel, parent_end
from consumer.isolation import Isolation
from consumer.messages import FromChild, ToChild

CHILD_PROGRAM = ("-m", "consumer.child")
MAX_LOGGED_LINES = 200  # of one child's stderr: a page that writes for ever must not fill the disk
MAX_LINE = 500
TAIL_LINES = 3  # what is told of a death
CHUNK_BYTES = 65_536
TAIL_BYTES = 2_000  # of a chunk, once nothing is logged any more: to read all of it takes 15 ms

log = structlog.get_logger()


@dataclass(slots=True)
class Stderr:
    """The bounded rest of what a child wrote, escaped: it repeats what pages say."""

    lines: int = 0
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))

    def add(self, chunk: bytes) -> tuple[str, ...]:
        """Note a piece of the stream; return the lines of it that are still to be logged."""
        if self.lines >= MAX_LOGGED_LINES:
            chunk = chunk[-TAIL_BYTES:]
        fresh = [ascii(line[:MAX_LINE]) for line in chunk.decode(errors="replace").splitlines()]
        self.tail.extend(fresh)
        room = max(MAX_LOGGED_LINES - self.lines, 0)
        self.lines += len(fresh)
        return tuple(fresh[:room])


@dataclass(frozen=True, slots=True)
class StderrPipe:
    """Our end of what a child writes to."""

    reader: asyncio.StreamReader
    transport: asyncio.ReadTransport


class ChildProcess:
    """A running child; it leads a process group, and its browser is below it."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        channel: Channel[FromChild, ToChild],
        stderr: StderrPipe,
        cell: Cell,
    ) -> None:
        self._process = process
        self._cell = cell
        self._stderr = stderr
        self._said = Stderr()
        self.channel = channel

    @property
    def pid(self) -> int:
        """The child's, and its group's."""
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The end of its stderr."""
        return " | ".join(self._said.tail)

    @property
    def has_ended(self) -> bool:
        """Whether it is dead already, although the loop may not have been told yet."""
        return self._process.returncode is not None or processes.is_dead(self.pid)

    async def wait(self) -> int:
        """Return its exit code once it has ended, minus the signal that killed it."""
        return await self._process.wait()

    def kill(self) -> None:
        """Kill its group and all below it; harmless when it has ended."""
        if self._process.returncode is not None:
            return
        below = processes.descendants(self.pid)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        processes.kill_all(below)

    def used_bytes(self) -> int:
        """Return the memory that all in its cell take; to be run on a thread.

        Also of those that have left its tree: a page that took over the browser could hoard there.
        """
        return memory.used_bytes(self._inmates())

    async def drain_stderr(self) -> None:
        """Log what it writes, until the pipe closes."""
        while chunk := await self._stderr.reader.read(CHUNK_BYTES):
            for line in self._said.add(chunk):
                log.info("child.stderr", pid=self.pid, line=line)

    async def close(self) -> None:
        """Let go of both streams."""
        self._stderr.transport.close()
        await self.channel.close()

    def _inmates(self) -> frozenset[int]:
        uid = self._cell.browser.uid
        if uid is not None:
            return processes.family(self.pid, uid)
        at_home = processes.at_home(self._cell.home, self._cell.child_home)
        return at_home | processes.descendants(self.pid) | {self.pid}


async def start_child(
    isolation: Isolation, cell: Cell, program: Sequence[str] = CHILD_PROGRAM
) -> ChildProcess:
    """Start a child in its cell: no stdin, one socket to us, and stdout goes where stderr goes."""
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    pipe = await _listen(read_end)
    channel = await parent_end(ours)
    switches = child_switches(isolation, cell, theirs.fileno())
    try:
        process = await asyncio.create_subprocess_exec(
            *isolation.child_argv(cell, [*program, *switches]),
            env=isolation.child_environment(cell),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,  # a pipe of our own: asyncio's would make wait() wait for it to close
            pass_fds=(theirs.fileno(),),
            cwd="/",
            start_new_session=True,
        )
    except BaseException:
        pipe.transport.close()
        await channel.close()
        raise
    finally:
        theirs.close()
        os.close(write_end)
    return ChildProcess(process, channel, pipe, cell)


def child_switches(isolation: Isolation, cell: Cell, descriptor: int) -> list[str]:
    """Return the arguments of `consumer.child`."""
    return [
        f"--fd={descriptor}",
        f"--browser={cell.browser_script}",
        f"--browser-kind={isolation.ground.browser.kind}",
        f"--sandbox={isolation.sandbox}",
    ]


async def _listen(read_end: int) -> StderrPipe:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    return StderrPipe(reader, transport)
