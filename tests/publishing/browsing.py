"""The app on a loopback port, and a real browser in which somebody is signed in.

Three arrangements: the default, in which the app is on an address and Storybooks below
`content.localhost`; the tightest that works, in which all of them are of one site, so that the
browser's SameSite rules help nobody; and that over plain http, where there is no Sec-Fetch-Site.
"""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, Response, async_playwright
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.server import create_app
from storyshelf.web.caller import COOKIE
from storyshelf.web.hosts import ContentHosts
from storyshelf.wiring import Parts
from tests.app import asking, parts_on
from tests.people import sign_in
from tests.publishing.shelf import Shelf

BROWSERS = ("chromium-headless-shell", "chrome-headless-shell", "chromium")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Under which names the app and the Storybooks are."""

    app: str
    content: str


DEFAULT = Arrangement("127.0.0.1", "content.localhost")
ONE_SITE = Arrangement("app.shelf.localhost", "content.shelf.localhost")
PLAIN = Arrangement("app.shelf.test", "content.shelf.test")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server, and what to publish on it with."""

    parts: Parts
    shelf: Shelf
    told: "Told"

    @property
    def app(self) -> str:
        return self.parts.public_url

    def origin(self, slug: str) -> str:
        return ContentHosts.of(self.parts.content_domain, self.app).origin(slug)

    @property
    def wider_domains(self) -> list[str]:
        """The content domain and those that it lies in, for all of which its hosts set cookies."""
        labels = self.parts.content_domain.split(".")
        return [".".join(labels[start:]) for start in range(len(labels) - 1)]


class Told:
    """An app, and what it answered: a browser does not tell of each answer that it keeps back."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.statuses: dict[str, int] = {}  # of the last answer to each address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.statuses[str(Request(scope).url)] = message["status"]
            await send(message)

        await self.app(scope, receive, tell)


@asynccontextmanager
async def serving(db: Database, blobs: Path, names: Arrangement) -> AsyncIterator[Served]:
    """Serve on a port of its own until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    public_url = f"http://{names.app}:{listener.getsockname()[1]}"
    parts = replace(parts_on(db, blobs), public_url=public_url, content_domain=names.content)
    told = Told(create_app(parts))
    server = uvicorn.Server(uvicorn.Config(told, log_level="warning"))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        try:
            yield Served(parts, Shelf(parts), told)
        finally:
            server.should_exit = True


@asynccontextmanager
async def a_browser() -> AsyncIterator[Browser]:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    assert path is not None, "install chromium-headless-shell to run the tests marked `browser`"
    async with async_playwright() as driver:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP *.shelf.test 127.0.0.1"]
        browser = await driver.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Victim:
    """A person with a browser who is signed in and opens what they are shown."""

    served: Served
    context: BrowserContext
    answers: list[Response] = field(default_factory=list)

    def remember(self, answer: Response) -> None:
        self.answers.append(answer)

    async def open(self, page: str) -> Page:
        """Open a page of the app in a tab of its own, and be led wherever it leads."""
        tab = await self.context.new_page()
        tab.set_default_timeout(10_000)
        await tab.goto(self.served.app + page)
        return tab

    async def open_storybook(self, slug: str, number: int = 1) -> Page:
        return await self.open(f"/projects/{slug}/builds/{number}/storybook")

    async def cookies_sent(self, origin: str) -> set[str]:
        """Return the names of the cookies that any request brought to the origin."""
        asked = [each.request for each in self.answers if each.url.startswith(f"{origin}/")]
        sent = [(await each.all_headers()).get("cookie", "") for each in asked]
        pairs = (pair for header in sent for pair in header.split("; ") if pair)
        return {pair.partition("=")[0] for pair in pairs}

    async def session_of_somebody_else(self) -> str:
        """Sign Mallory in, in another browser, and return that session's secret."""
        async with asking(self.served.parts) as client:
            await sign_in(self.served.parts.db, client, "mallory@shelf.test", roles={})
            return client.cookies[COOKIE]

    def statuses(self, origin: str) -> dict[str, int]:
        """Return what each path of an origin was answered with last."""
        told = self.served.told.statuses
        return {
            address.removeprefix(origin): status
            for address, status in told.items()
            if address.startswith(f"{origin}/")
        }


async def a_victim(served: Served, browser: Browser, roles: Mapping[ProjectId, Role]) -> Victim:
    """Somebody with these roles."""
    context = await browser.new_context()
    async with asking(served.parts) as client:
        await sign_in(served.parts.db, client, "ada@shelf.test", roles=roles)
        secret = client.cookies[COOKIE]
    kept = {"name": COOKIE, "value": secret, "url": served.app}
    await context.add_cookies([{**kept, "httpOnly": True, "sameSite": "Lax"}])  # type: ignore[typeddict-item]
    victim = Victim(served, context)
    context.on("response", victim.remember)
    return victim
