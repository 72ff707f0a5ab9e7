"""`storyshelf serve`: the API and the pages, in this process, until a signal ends it."""

import asyncio
import socket
from typing import Annotated

import structlog
import typer

from storyshelf import logs
from storyshelf.cli.database import plain_errors, url_in_use
from storyshelf.cli.listening import adopt, bind, require_somebody
from storyshelf.db.migrate import require_head
from storyshelf.errors import StoryshelfError
from storyshelf.server import create_app
from storyshelf.settings import Settings, read_settings
from storyshelf.web.serving import serve_on
from storyshelf.wiring import open_parts

CLOSE_SHARE = 0.6  # of the grace, for requests under way; the rest is for connections and files

log = structlog.get_logger(__name__)


class NotServedError(StoryshelfError):
    """The server's own start failed; the lines above say why."""

    def __init__(self) -> None:
        super().__init__("The server did not start", next_step="The lines above say why.")


def serve(
    *,
    host: Annotated[
        str | None, typer.Option(help="Instead of STORYSHELF_HOST; beyond this machine: 0.0.0.0.")
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

    Works on STORYSHELF_DATABASE_URL, else on the embedded database if that runs. Beyond this
    machine it listens only once somebody can sign in with a password.
    """
    settings = read_settings(host=host, port=port)
    logs.configure(settings.log_level, settings.log_format)
    url = url_in_use(settings)
    with adopt(listener) if listener is not None else bind(settings.host, settings.port) as bound:
        settings = settings.model_copy(update={"port": bound.getsockname()[1]})
        asyncio.run(_serve(settings, url, bound, any_schema=any_schema))


async def _serve(settings: Settings, url: str, bound: socket.socket, *, any_schema: bool) -> None:
    async with open_parts(settings, url) as parts:
        if not any_schema:
            with plain_errors():
                await require_head(parts.db)
        with plain_errors():
            await require_somebody(parts.db, settings.host)
        log.info("server.started", url=parts.public_url)
        stop_within_s = CLOSE_SHARE * settings.stop_grace_s
        if not await serve_on(bound, create_app(parts), stop_within_s, settings.trusted_proxies):
            raise NotServedError
    log.info("server.stopped")
