"""Serves an application on a socket of this machine for as long as a block lasts."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def served(
    application: ASGIApp, listener: socket.socket, *, stop_within_s: int
) -> AsyncIterator[None]:
    """Serve on a socket that listens already; at the end, responses get that long to finish."""
    config = uvicorn.Config(
        application,
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="error",  # a page that asks for a socket over and over would fill the log
        access_log=False,
        server_header=False,
        date_header=False,  # a page may show it
        timeout_keep_alive=60,
        timeout_graceful_shutdown=stop_within_s,
    )
    server = _Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        try:
            yield
        finally:
            server.should_exit = True


class _Server(uvicorn.Server):
    """A server that leaves the process's signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield
