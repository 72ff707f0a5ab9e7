"""Middleware: whoever changes something through a page proves that a page of ours sent it.

The API takes no cookie, so it needs no proof. Everywhere else the browser itself says where a
request is from: `Sec-Fetch-Site` where it sends that, else `Origin`, which every browser sends with
a POST. A published Storybook is of the same site as the pages, so SameSite cookies would not do.
"""

from http import HTTPStatus

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from storyshelf.web.origin import comes_from_here
from storyshelf.web.problems import Problem, Show

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FOR_TOKENS = "/api/"


class SameOrigin:
    """Refuses what another origin's page had the browser send."""

    def __init__(self, app: ASGIApp, show: Show) -> None:
        self.app = app
        self.show = show

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what changes nothing, takes no cookie, or comes from a page of ours."""
        if scope["type"] != "http" or _needs_no_proof(scope):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if is_own(request):
            await self.app(scope, receive, send)
            return
        refused = Problem(
            HTTPStatus.FORBIDDEN,
            "The request does not come from a page of this server",
            kind="other-origin",
            where=scope["path"],
            next_step="Open the page here and send the form from it.",
        )
        await self.show(request, refused)(scope, receive, send)


def _needs_no_proof(scope: Scope) -> bool:
    return scope["method"] in SAFE or scope["path"].startswith(FOR_TOKENS)


def is_own(request: Request) -> bool:
    """Tell whether the browser says that a page of this origin sent the request."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    is_from_here = comes_from_here(request)
    return site is not None if is_from_here is None else is_from_here
