"""The database of `storyshelf up`: the embedded one, started, watched, and stopped at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from storyshelf.clock import Clock
from storyshelf.db.cluster import read_run_file
from storyshelf.db.embedded import EmbeddedPostgres, ServerState
from storyshelf.db.server_process import lives

LOOK_S = 2.0  # one read below /proc; the server and the consumers wait out a restart by themselves

_T = TypeVar("_T")


async def is_stopped(server: EmbeddedPostgres) -> bool:
    """Tell whether nothing of it runs."""
    status = await asyncio.to_thread(server.status)
    return status.state is ServerState.STOPPED


@asynccontextmanager
async def kept_up(
    server: EmbeddedPostgres, clock: Clock, say: Callable[[str], None]
) -> AsyncIterator[str]:
    """Start it if it does not run, and again whenever it ends; yield its url."""
    url = await to_its_end(server.start)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(_watch(server, clock, say))
        try:
            yield url
        finally:
            watching.cancel()


@asynccontextmanager
async def stopped_after(server: EmbeddedPostgres) -> AsyncIterator[None]:
    """Stop it at the end of the block."""
    try:
        yield
    finally:
        await to_its_end(server.stop)


async def to_its_end(work: Callable[[], _T]) -> _T:
    """Do what blocks on a thread; a cancel takes effect when it is done, not in its midst."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await doing
        raise


async def _watch(server: EmbeddedPostgres, clock: Clock, say: Callable[[str], None]) -> None:
    while True:
        await clock.sleep(LOOK_S)
        pid = read_run_file(server.files.run).get("pid")
        if not (isinstance(pid, int) and lives(pid)):
            say("The database has ended; it starts again.")
            await to_its_end(server.start)
