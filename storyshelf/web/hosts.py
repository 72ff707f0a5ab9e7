"""Which host names the server answers for, and with what: pages and API, or a published Storybook.

An uploaded Storybook is hostile code, so each project's has a host of its own below the content
domain, and never shares one with the app. A name that was rebound to the server is refused.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from storyshelf.errors import StoryshelfError
from storyshelf.projects.project import SLUG
from storyshelf.web.problems import Problem, Show

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE)
DOMAIN = re.compile(
    r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE
)


class UnusableContentDomainError(StoryshelfError):
    """A content domain that is none, or under which the app itself lives."""

    def __init__(self, domain: str, problem: str) -> None:
        super().__init__(
            f"Storybooks cannot be published under {domain!r}: {problem}",
            where="STORYSHELF_CONTENT_DOMAIN",
            next_step="Name a domain that nothing else uses, such as storybooks.example.net.",
        )


@dataclass(frozen=True, slots=True)
class ContentHosts:
    """The hosts of published Storybooks: one a project, on the server's own scheme and port."""

    domain: str
    scheme: str
    port: int | None

    @classmethod
    def of(cls, content_domain: str, public_url: str) -> "ContentHosts":
        """Return them; raises UnusableContentDomainError."""
        domain = content_domain.lower()
        if not DOMAIN.fullmatch(domain):
            raise UnusableContentDomainError(content_domain, "that is not a domain's name")
        for name in own_names(public_url):
            if name == domain or name.endswith(f".{domain}"):
                raise UnusableContentDomainError(content_domain, f"the server itself is {name}")
        public = urlsplit(public_url)
        return cls(domain, public.scheme, public.port)

    def origin(self, slug: str) -> str:
        """Return where the project's Storybook is."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{slug}.{self.domain}{port}"

    def slug_in(self, name: str) -> str | None:
        """Return whose Storybook is at the host of that name; None: no project's can be."""
        slug, dot, domain = name.partition(".")
        is_one = dot and domain == self.domain and SLUG.fullmatch(slug)
        return slug if is_one else None


class KnownHosts:
    """Middleware that has each host answered by what lives there, and refuses every other.

    What is asked of a content host goes to `published`, which finds the project's slug in the
    scope as `slug`.
    """

    def __init__(
        self, app: ASGIApp, public_url: str, content: ContentHosts, published: ASGIApp, show: Show
    ) -> None:
        self.app = app
        self.names = own_names(public_url)
        self.content = content
        self.published = published
        self.show = show

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to whom its host belongs to."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        name = _name_in(request)
        slug = self.content.slug_in(name)
        if name in self.names:
            await self.app(scope, receive, send)
        elif slug is not None:
            await self.published({**scope, "slug": slug}, receive, send)
        else:
            await self.show(request, _refusal(request))(scope, receive, send)


def own_names(public_url: str) -> Collection[str]:
    """Return the names of the app itself."""
    named = urlsplit(public_url).hostname  # in lower case
    return LOOPBACK | ({named} if named else set())


def _refusal(request: Request) -> Problem:
    return Problem(
        HTTPStatus.MISDIRECTED_REQUEST,
        "This server does not answer to that name",
        kind="unknown-host",
        where=request.headers.get("host", "")[:255],
        next_step="Use the server's own link, or put its name into STORYSHELF_PUBLIC_URL.",
    )


def _name_in(request: Request) -> str:
    """Return the name that the one Host header holds, without its port; empty if it is unclear."""
    given = request.headers.getlist("host")
    match = HOST.fullmatch(given[0]) if len(given) == 1 else None
    return match["name"].lower().strip("[]") if match else ""
