"""Records a trace: what the page did and showed while a story was shot, as Playwright writes it.

It holds the story's page and its requests, step by step, and nothing of this machine: our sources
are left out, and so is the list of where in them each step was asked for (`consumer.trace_file`).
"""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import BrowserContext, Error

from consumer.messages import MAX_TRACE_BYTES

BEGIN_S = 5.0  # it takes 20 ms
END_S = 10.0  # 30 ms; the driver asks a page that is stuck for a last snapshot, in vain
KEPT_MS = 1_000 * END_S  # of the story's time


@dataclass(frozen=True, slots=True)
class Trace:
    """The zip; or none, and why."""

    content: bytes = b""
    missing: str = ""


NOT_ASKED = Trace()


def no_page() -> Trace:
    """Say that there was nothing to record."""
    return Trace(missing="the story got no page")


@dataclass(frozen=True, slots=True)
class Recording:
    """A context whose doings are recorded, or why they are not."""

    context: BrowserContext
    missing: str = ""

    async def end(self) -> Trace:
        """Stop recording and return what there is; whatever the page did, this ends in time."""
        if self.missing:
            return Trace(missing=self.missing)
        with tempfile.TemporaryDirectory(prefix="trace-") as folder:
            file = Path(folder) / "trace.zip"
            try:
                async with asyncio.timeout(END_S):
                    await self.context.tracing.stop(path=file)
                return await asyncio.to_thread(_read, file)
            except TimeoutError:
                return Trace(missing=f"the recording did not end within {END_S:.0f} s")
            except (Error, OSError):
                return Trace(missing="the browser was gone before the recording ended")


async def begin(context: BrowserContext, title: str) -> Recording:
    """Record what the pages of the context do from now on."""
    try:
        async with asyncio.timeout(BEGIN_S):
            await context.tracing.start(title=title, screenshots=True, snapshots=True)
    except (Error, TimeoutError):
        return Recording(context, "the browser began no recording")
    return Recording(context)


def _read(file: Path) -> Trace:
    size_bytes = file.stat().st_size
    if size_bytes > MAX_TRACE_BYTES:
        most = f"one of more than {MAX_TRACE_BYTES >> 20} MiB is not kept"
        return Trace(missing=f"it has {size_bytes >> 20} MiB, and {most}")
    return Trace(file.read_bytes())
