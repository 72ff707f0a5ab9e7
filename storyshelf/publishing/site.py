"""The app that answers on every content host, with the headers that fence each one in."""

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.publishing.published import Published
from storyshelf.web.navigation import NotEmbedded
from storyshelf.web.problems import add_handlers
from storyshelf.wiring import Parts

# There is no Service-Worker-Allowed: a worker reaches no further than the folder it lies in.
FENCES = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",  # document.domain cannot make one of two projects
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Sec-Fetch-Site",  # what is refused to a sibling is not given to it out of the cache
}
OWN_FRAMES = "frame-ancestors 'self'"  # the manager shows its stories in a frame


def create_site(parts: Parts) -> FastAPI:
    """Return the app; the scope's `slug` says whose host is asked."""
    published = Published(parts)
    site = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        routes=[Route("/{path:path}", published)],  # whatever the method
    )
    add_handlers(site, published.show)
    site.add_middleware(NotEmbedded, show=published.show)
    site.add_middleware(Fenced)
    return site


class Fenced:
    """Middleware that puts the fences on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and its answer with the headers."""

        async def fenced(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(FENCES)
                headers.setdefault("Content-Security-Policy", OWN_FRAMES)
            await send(message)

        await self.app(scope, receive, fenced)
