"""Answers on a port whether this consumer lives, whether it can take work, and its figures."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from consumer.loopback import LOOPBACK, served
from storyshelf.auth.metrics_token import is_sent
from storyshelf.auth.nearby import is_from_here
from storyshelf.errors import StoryshelfError
from storyshelf.operations.exposition import MEDIA_TYPE

STOP_WITHIN_S = 1  # a probe that hangs does not hold up the end of the consumer

WHO_MAY_ASK = (
    "The figures are shown on the consumer's own machine only. Set STORYSHELF_METRICS_TOKEN, and"
    " have the scraper send it as bearer token.\n"
)
HOW_TO_ASK = "Send STORYSHELF_METRICS_TOKEN as `Authorization: Bearer <token>`.\n"

WhyNotReady = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a scrape is answered, and the token that it has to send, if there is one."""

    exposition: Callable[[], bytes]
    token: str | None = None

    def answer(self, request: Request) -> Response:
        """Answer a scrape."""
        if self.token is None:
            client = None if request.client is None else request.client.host
            if not is_from_here(client, request.headers):
                return PlainTextResponse(WHO_MAY_ASK, 404)
        elif not is_sent(request.headers.get("authorization"), self.token):
            return PlainTextResponse(HOW_TO_ASK, 401, {"www-authenticate": "Bearer"})
        return Response(self.exposition(), media_type=MEDIA_TYPE)


NO_FIGURES = Figures(lambda: b"")


class HealthPortError(StoryshelfError):
    """The port is another program's."""

    def __init__(self, port: int, reason: str) -> None:
        super().__init__(
            f"The health port cannot be listened on: {reason}",
            where=f"STORYSHELF_HEALTH_PORT={port}",
            next_step="Choose one of its own for each consumer of this machine, or unset it;"
            " STORYSHELF_HEALTH_HOST has to be an address of this machine.",
        )


def take_port(port: int, host: str = LOOPBACK) -> socket.socket | None:
    """Take the port without listening on it yet: a probe is refused; port 0 is none.

    Raises HealthPortError.
    """
    if port == 0:
        return None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the last run's may linger
    try:
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        raise HealthPortError(port, error.strerror or str(error)) from error
    return taken


def listen(taken: socket.socket) -> None:
    """Listen on a port that was taken; raises HealthPortError if another was quicker."""
    try:
        taken.listen()
    except OSError as error:
        raise HealthPortError(taken.getsockname()[1], error.strerror or str(error)) from error


@asynccontextmanager
async def serve_health(
    listener: socket.socket, why_not_ready: WhyNotReady, figures: Figures = NO_FIGURES
) -> AsyncIterator[int]:
    """Answer on a socket that listens already."""
    async with served(health_app(why_not_ready, figures), listener, stop_within_s=STOP_WITHIN_S):
        yield listener.getsockname()[1]


def health_app(why_not_ready: WhyNotReady, figures: Figures = NO_FIGURES) -> Starlette:
    """Return the answers: 200 for yes, 503 with the reason for not ready; and the figures."""

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "live"})

    async def ready(_: Request) -> Response:
        why = why_not_ready()
        if why is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "why": why}, 503)

    async def metrics(request: Request) -> Response:
        return figures.answer(request)

    routes = [
        Route("/health/live", live),
        Route("/health/ready", ready),
        Route("/metrics", metrics),
    ]
    return Starlette(routes=routes)
