"""Answers on a port whether this consumer lives and whether it can take work."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from consumer.loopback import LOOPBACK, served
from storyshelf.errors import StoryshelfError

STOP_WITHIN_S = 1  # a probe that hangs does not hold up the end of the consumer

WhyNotReady = Callable[[], str | None]


class HealthPortError(StoryshelfError):
    """The port is another program's."""

    def __init__(self, port: int, reason: str) -> None:
        super().__init__(
            f"The health port cannot be listened on: {reason}",
            where=f"STORYSHELF_HEALTH_PORT={port}",
            next_step="Choose one of its own for each consumer of this machine, or unset it.",
        )


@asynccontextmanager
async def health_server(port: int, why_not_ready: WhyNotReady) -> AsyncIterator[int | None]:
    """Listen while the block lasts and yield the port; port 0 is off and yields None.

    Raises HealthPortError before the block begins.
    """
    if port == 0:
        yield None
        return
    try:
        listener = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise HealthPortError(port, error.strerror or str(error)) from error
    async with serve_health(listener, why_not_ready) as bound:
        yield bound


@asynccontextmanager
async def serve_health(listener: socket.socket, why_not_ready: WhyNotReady) -> AsyncIterator[int]:
    """Answer on a socket that listens already."""
    async with served(health_app(why_not_ready), listener, stop_within_s=STOP_WITHIN_S):
        yield listener.getsockname()[1]


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
