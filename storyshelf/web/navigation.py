"""Middleware: what is here can be opened by whoever follows a link, but not be put into a page.

Another origin's page may be of the same site, so that cookies come with what it loads: a picture, a
script, a frame. It could not read the answer, but learn from it. Who asks is told by the browser in
Sec-Fetch-*, which no page can change; over plain http, except to loopback, there is only the Origin
of what is to be read, and it is left to the browser to keep the answer from the page.
"""

from collections.abc import Sequence
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.web.origin import comes_from_here
from storyshelf.web.problems import Problem, Show

OWN = frozenset({"same-origin", "none"})  # none: the address was typed, or comes from a bookmark
# The second: a service worker of the page's own origin passes on what a person opens. No page can
# send that to another origin.
NAVIGATIONS = frozenset({("navigate", "document"), ("navigate", "empty")})


class NotEmbedded:
    """Refuse what another origin's page loads, except below `open_paths`."""

    def __init__(self, app: ASGIApp, show: Show, open_paths: Sequence[str] = ()) -> None:
        self.app = app
        self.show = show
        self.open_paths = tuple(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what a page of this origin loads, and what a person opens."""
        if scope["type"] != "http" or scope["path"].startswith(self.open_paths):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if not is_foreign(request):
            await self.app(scope, receive, _marked(send))
            return
        refused = Problem(
            HTTPStatus.FORBIDDEN,
            "This can be opened, but not be loaded into a page of another origin",
            kind="foreign-page",
            where=scope["path"],
            next_step="Open it in a tab of its own.",
        )
        await self.show(request, refused)(scope, receive, _marked(send))


def _marked(send: Send) -> Send:
    """Have the browser too refuse the answer to another origin's page."""

    async def send_marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Cross-Origin-Resource-Policy"] = "same-origin"
        await send(message)

    return send_marked


def is_foreign(request: Request) -> bool:
    """Tell whether another origin's page asks, other than by opening this as a page of its own."""
    asked = request.headers
    site = asked.get("sec-fetch-site")
    if site is None:
        return comes_from_here(request) is False
    how = (asked.get("sec-fetch-mode"), asked.get("sec-fetch-dest"))
    return site not in OWN and how not in NAVIGATIONS
