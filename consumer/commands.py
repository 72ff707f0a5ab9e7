"""Run a command to its end within a time, and keep what it said."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_LINE = 300  # of a message that is shown to people
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
    """Run it with exactly this environment; whatever goes wrong is in the answer."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            cwd="/",
        )
    except OSError as error:
        return Ran(NOT_STARTED, "", f"{argv[0]}: {error.strerror}")
    try:
        async with asyncio.timeout(deadline_s):
            output, complaint = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return Ran(TIMED_OUT, "", f"{argv[0]} did not end within {deadline_s:g} s")
    code = process.returncode
    assert code is not None, "communicate returns after the end"
    return Ran(code, output.decode(errors="replace"), complaint.decode(errors="replace"))
