"""`storyshelf serve`: the API and the pages, in this process, until a signal ends it."""

import asyncio
import ipaddress
import socket
from typing import Annotated

import structlog
import typer

from storyshelf import logs
from storyshelf.cli.database import plain_errors, url_in_use
from storyshelf.db.migrate import require_head
from storyshelf.errors import StoryshelfError
from storyshelf.server import create_app
from storyshelf.settings import Settings, read_settings
from storyshelf.web.serving import serve_on
from storyshelf.wiring import open_parts

CLOSE_SHARE = 0.6  # of the grace, for requests under way; the rest is for connections and files

log = structlog.get_logger(__name__)


class NotLoopbackError(StoryshelfError):
    """Whoever reaches the pages may read them, so nobody from outside this machine may."""

    def __init__(self, host: str) -> None:
        super().__init__(
            "The pages have no sign-in yet, so the server listens on this machine only",
            where=f"STORYSHELF_HOST or --host is {host!r}",
            next_step="Use 127.0.0.1; from elsewhere, forward the port: "
            "`ssh -L 8765:127.0.0.1:8765 this-machine`.",
        )


class PortTakenError(StoryshelfError):
    """Another program listens there."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(
            f"The server cannot listen: {reason}",
            where=f"{host}:{port}",
            next_step="End what listens there, or choose another port: --port, STORYSHELF_PORT.",
        )


class NotServedError(StoryshelfError):
    """The server's own start failed; the lines above say why."""

    def __init__(self) -> None:
        super().__init__("The server did not start", next_step="The lines above say why.")


def serve(
    *,
    host: Annotated[
        str | None, typer.Option(help="Instead of STORYSHELF_HOST; loopback only.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Instead of STORYSHELF_PORT; 0: any free one."),
    ] = None,
    listener: Annotated[
        int | None, typer.Option(hidden=True, help="A socket that is bound already, inherited.")
    ] = None,
    any_schema: Annotated[
        bool, typer.Option("--any-schema", help="Serve even if `storyshelf migrate` is due.")
    ] = False,
) -> None:
    """Serve the API and the pages until TERM or Ctrl-C.

    Works on STORYSHELF_DATABASE_URL, else on the embedded database if that runs.
    """
    settings = read_settings(host=host, port=port)
    logs.configure(settings.log_level, settings.log_format)
    url = url_in_use(settings)
    with adopt(listener) if listener is not None else bind(settings.host, settings.port) as bound:
        settings = settings.model_copy(update={"port": bound.getsockname()[1]})
        asyncio.run(_serve(settings, url, bound, any_schema=any_schema))


def bind(host: str, port: int) -> socket.socket:
    """Listen on that address of this machine; port 0 is any free one."""
    if not _is_loopback(host):
        raise NotLoopbackError(host)
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise PortTakenError(host, port, error.strerror or str(error)) from error


def adopt(descriptor: int) -> socket.socket:
    """Return the socket that the parent process bound, so that no restart loses a connection."""
    return socket.socket(fileno=descriptor)


async def _serve(settings: Settings, url: str, bound: socket.socket, *, any_schema: bool) -> None:
    async with open_parts(settings, url) as parts:
        if not any_schema:
            with plain_errors():
                await require_head(parts.db)
        log.info("server.started", url=parts.public_url)
        if not await serve_on(bound, create_app(parts), CLOSE_SHARE * settings.stop_grace_s):
            raise NotServedError
    log.info("server.stopped")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False
