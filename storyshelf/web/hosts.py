"""Which host names the server answers for: a name that was rebound to it is refused."""

from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from storyshelf.web.problems import Problem, Show

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class KnownHosts:
    """Middleware that refuses a request for a host that is not this one."""

    def __init__(self, app: ASGIApp, names: Collection[str], show: Show) -> None:
        self.app = app
        self.names = LOOPBACK | {name.lower() for name in names}
        self.show = show

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request for this host on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        asked = request.headers.get("host", "")
        if _name_in(asked) in self.names:
            await self.app(scope, receive, send)
            return
        refused = Problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            "This server does not answer to that name",
            kind="unknown-host",
            where=asked[:255],
            next_step="Use the server's own link, or put its name into STORYSHELF_PUBLIC_URL.",
        )
        await self.show(request, refused)(scope, receive, send)


def _name_in(host: str) -> str | None:
    """Return the name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
