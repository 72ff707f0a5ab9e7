"""Run a command to its end within a time, and keep what it said."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

MAX_LINE = 300  # of a message that is shown to people
MAX_OUTPUT_BYTES = 1 << 20
TIMED_OUT = -1
NOT_STARTED = 127  # what a shell answers for a command it cannot start


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a command; `output` is its stdout, `complaint` its stderr."""

    returncode: int
    output: str
    complaint: str

    @property
    def last_line(self) -> str:
        """The last thing it complained of, in one bounded line."""
        lines = [line.strip() for line in self.complaint.splitlines() if line.strip()]
        return lines[-1][:MAX_LINE] if lines else f"exit code {self.returncode}"


async def run(argv: Sequence[str], environment: Mapping[str, str], deadline_s: float) -> Ran:
    """Run it with exactly this environment; whatever goes wrong is in the answer.

    It writes into files: a process it leaves behind would hold a pipe open and us with it.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaint:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=complaint,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            return Ran(NOT_STARTED, "", f"{argv[0]}: {error.strerror}")
        code = await _end(process, deadline_s)
        if code is None:
            return Ran(TIMED_OUT, "", f"{argv[0]} did not end within {deadline_s:g} s")
        return Ran(code, _text(output), _text(complaint))


async def _end(process: asyncio.subprocess.Process, deadline_s: float) -> int | None:
    try:
        async with asyncio.timeout(deadline_s):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _text(written: IO[bytes]) -> str:
    written.seek(0)
    return written.read(MAX_OUTPUT_BYTES).decode(errors="replace")
