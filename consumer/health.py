"""Answers on a port whether this consumer lives and whether it can take work."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

LOOPBACK = "127.0.0.1"
STOP_WITHIN_S = 1  # a probe that hangs does not hold up the end of the consumer

WhyNotReady = Callable[[], str | None]


@asynccontextmanager
async def health_server(
    port: int, why_not_ready: WhyNotReady, host: str = LOOPBACK
) -> AsyncIterator[int | None]:
    """Listen while the block lasts and yield the port; port 0 is off and yields None.

    A port that is taken raises OSError before the block begins.
    """
    if port == 0:
        yield None
        return
    async with serve_health(socket.create_server((host, port)), why_not_ready) as bound:
        yield bound


@asynccontextmanager
async def serve_health(listener: socket.socket, why_not_ready: WhyNotReady) -> AsyncIterator[int]:
    """Answer on a socket that listens already."""
    config = uvicorn.Config(
        health_app(why_not_ready),
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    server = _Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True


def health_app(why_not_ready: WhyNotReady) -> Starlette:
    """Return the two answers: 200 for yes; 503 with the reason for not ready."""

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "live"})

    async def ready(_: Request) -> Response:
        why = why_not_ready()
        if why is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "why": why}, 503)

    return Starlette(routes=[Route("/health/live", live), Route("/health/ready", ready)])


class _Server(uvicorn.Server):
    """A server that leaves the process's signals to the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield
