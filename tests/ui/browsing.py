"""The app on a loopback port, and people who look at it in a real browser."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from axe_playwright_python.async_playwright import Axe
from PIL import Image
from playwright.async_api import Browser, Locator, Page, async_playwright

from storyshelf.db.engine import Database
from storyshelf.server import create_app
from storyshelf.web.caller import COOKIE
from tests.app import parts_on
from tests.people import ADA, sign_in

NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ONLY_WCAG = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
Colour = tuple[int, int, int]


@dataclass
class Browsing:
    """A browser in front of the app; what a console of its pages says is kept."""

    db: Database
    address: str
    browser: Browser
    stack: AsyncExitStack
    said: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)

    async def page(self, who: str = ADA.email, **options: Any) -> Page:
        """Open a window of somebody who is signed in; `options` are of the browser's context."""
        context = await self.browser.new_context(base_url=self.address, **options)
        self.stack.push_async_callback(context.close)
        secret = await self._secret_of(who)
        await context.add_cookies([{"name": COOKIE, "value": secret, "url": self.address}])
        page = await context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        return page

    async def _secret_of(self, who: str) -> str:
        if who not in self.secrets:
            async with httpx.AsyncClient(base_url=self.address) as client:
                await sign_in(self.db, client, who)
                self.secrets[who] = client.cookies[COOKIE]
        return self.secrets[who]


@asynccontextmanager
async def browsing(db: Database, blobs: Path) -> AsyncIterator[Browsing]:
    """Serve the app and start a browser; what a console says is a failure."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path is not None, "install chromium-headless-shell to run the tests marked `browser`"
    async with (
        serving(db, blobs) as address,
        async_playwright() as driver,
        AsyncExitStack() as all_,
    ):
        browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        all_.push_async_callback(browser.close)
        here = Browsing(db, address, browser, all_)
        yield here
        assert here.said == []


@asynccontextmanager
async def serving(db: Database, blobs: Path) -> AsyncIterator[str]:
    """Serve the app on a loopback port of its own."""
    server = uvicorn.Server(uvicorn.Config(create_app(parts_on(db, blobs)), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True


async def faults_of(page: Page) -> list[str]:
    """Return what axe finds wrong with the page by WCAG 2.2 AA."""
    found = await Axe().run(page, options=ONLY_WCAG)
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found.response["violations"]
        for node in fault["nodes"]
    ]


async def colour_at(element: Locator, across: float, down: float) -> Colour:
    """Return the colour on the screen at a share of the element's width and height."""
    image = Image.open(BytesIO(await element.screenshot(animations="disabled"))).convert("RGB")
    found = image.getpixel((round(across * (image.width - 1)), round(down * (image.height - 1))))
    assert isinstance(found, tuple)
    red, green, blue = found
    return int(red), int(green), int(blue)
