"""Keeps a process running: starts it again when it ends, and ends it when that is asked.

What it writes goes into a file that it holds itself: it can still write there, and let go of its
work in order, when the process that started it was killed.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storyshelf.cli.log_lines import LogLines, make_room
from storyshelf.cli.restarts import UNFIT_CODE, Restarts
from storyshelf.clock import Clock

LOOK_S = 0.5  # between looks into a log


@dataclass(frozen=True, slots=True)
class Program:
    """A process to keep: its name for people, its command, and where its words go."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    descriptors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Keeper:
    """How processes are kept: what is said of them, who else watches them, what a stop may take."""

    clock: Clock
    say: Callable[[str], None]
    started: Callable[[int], None]
    kill_after_s: float

    @asynccontextmanager
    async def keeping(self, programs: Sequence[Program]) -> AsyncIterator[None]:
        """Keep them running while the block lasts; at its end all are gone, whatever it takes."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._keep(program)) for program in programs]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _keep(self, program: Program) -> None:
        restarts = Restarts()
        while True:
            began_s = self.clock.monotonic()
            code = await self._run(program)
            restarts = restarts.after(code, self.clock.monotonic() - began_s)
            self.say(_farewell(program, code, restarts.wait_s))
            await self.clock.sleep(restarts.wait_s)

    async def _run(self, program: Program) -> int:
        """Run it once, until it ends by itself or this task is cancelled."""
        make_room(program.log)
        lines = LogLines(program.log)
        process = await _start(program)
        self.started(process.pid)
        try:
            return await self._pass_on_until_end(program, lines, process)
        finally:
            await self._end(program.name, process)

    async def _pass_on_until_end(
        self, program: Program, lines: LogLines, process: asyncio.subprocess.Process
    ) -> int:
        ended = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_wait(process, ended))
            while not await self.clock.wait_for(ended, LOOK_S):
                self._pass_on(program, lines)
        self._pass_on(program, lines)
        assert process.returncode is not None, "it was waited for"
        return process.returncode

    def _pass_on(self, program: Program, lines: LogLines) -> None:
        for line in lines.loud():
            self.say(f"{program.name}: {line}")

    async def _end(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Ask it to end, then make it."""
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(self.kill_after_s):
                await process.wait()
        except TimeoutError:
            self.say(f"{name} did not end within {self.kill_after_s:g} s: killed.")
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _start(program: Program) -> asyncio.subprocess.Process:
    log = os.open(program.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        return await asyncio.create_subprocess_exec(
            *dying_with_us(),
            *program.argv,
            env=program.environment,
            pass_fds=program.descriptors,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us alone: the order of the end is ours
        )
    finally:
        os.close(log)


async def _wait(process: asyncio.subprocess.Process, ended: asyncio.Event) -> None:
    await process.wait()
    ended.set()


def dying_with_us() -> tuple[str, ...]:
    """Return the prefix of a command that the kernel asks to end when this process is killed."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig=TERM") if setpriv else ()


def _farewell(program: Program, code: int, wait_s: float) -> str:
    if code == UNFIT_CODE:
        return f"{program.name} cannot work until that is mended; next try in {wait_s:g} s."
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"{program.name} {how}; it starts again in {wait_s:g} s. Its log: {program.log}"
