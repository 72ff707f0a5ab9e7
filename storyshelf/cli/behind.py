"""The line from `storyshelf up` to the process that cleans up behind it if it is killed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from storyshelf.cli.aftermath import DATABASE, DONE


@dataclass(frozen=True, slots=True)
class Behind:
    """Tells it what there will be to clean up."""

    line: asyncio.StreamWriter

    def watch(self, pid: int) -> None:
        """Name a process that was started."""
        self._say(str(pid))

    def owns_database(self) -> None:
        """Say that the embedded database is to be stopped."""
        self._say(DATABASE)

    def done(self) -> None:
        """Say that everything has ended in order."""
        self._say(DONE)

    def _say(self, word: str) -> None:
        if not self.line.is_closing():
            self.line.write(f"{word}\n".encode())


@asynccontextmanager
async def clean_up_behind(
    data_dir: Path, grace_s: float, lock: int, log: Path
) -> AsyncIterator[Behind]:
    """Have somebody who outlives us, holds our lock as long, and ends what we started.

    After a block that fails it does its work too: what could not be stopped here is not trusted.
    """
    process = await _start(data_dir, grace_s, lock, log)
    assert process.stdin is not None, "a pipe was asked for"
    behind = Behind(process.stdin)
    try:
        yield behind
    except asyncio.CancelledError:
        behind.done()
        raise
    else:
        behind.done()
    finally:
        behind.line.close()
        await process.wait()


async def _start(
    data_dir: Path, grace_s: float, lock: int, log: Path
) -> asyncio.subprocess.Process:
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "storyshelf.cli.aftermath"),
            *(str(data_dir), str(grace_s)),
            stdin=asyncio.subprocess.PIPE,
            stdout=out,
            stderr=out,
            pass_fds=(lock,),
            start_new_session=True,
        )
    finally:
        os.close(out)
