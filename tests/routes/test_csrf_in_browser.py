"""Pages elsewhere that have a real browser send forms and requests with the visitor's cookie."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.async_api import Page
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from storyshelf.db.engine import Database
from storyshelf.web.caller import COOKIE
from tests.routes.world import World, a_world, state_of
from tests.ui.browsing import Browsing, browsing

pytestmark = [pytest.mark.browser, pytest.mark.timeout(90)]

LURES = ("localhost", "shop.content.localhost")  # another port of our host, and a neighbour of it
SEND = """async target => {
    const sent = [];
    for (const mode of ["no-cors", "cors"]) {
        try {
            await fetch(target, {
                method: "POST", mode, credentials: "include",
                body: new URLSearchParams({decision: "denied", all: "1"}),
            });
            sent.push(`${mode}: sent`);
        } catch { sent.push(`${mode}: refused`); }
    }
    return sent;
}"""


async def lure(scope: Scope, receive: Receive, send: Send) -> None:
    """A page that looks harmless, with a form for whatever its query names."""
    target = escape(Request(scope).query_params.get("target", ""))
    await HTMLResponse(
        f'<form method="post" action="{target}"><input name="decision" value="denied">'
        '<input name="all" value="1"><button>Win a prize</button></form>'
    )(scope, receive, send)


@asynccontextmanager
async def luring() -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(lure, log_level="warning", lifespan="off"))
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            yield listener.getsockname()[1]
            server.should_exit = True


@pytest.fixture
async def world(db: Database, tmp_path: Path) -> World:
    return await a_world(db, tmp_path / "blobs")


@pytest.fixture
async def here(world: World, tmp_path: Path) -> AsyncIterator[Browsing]:
    async with browsing(world.db, tmp_path / "blobs") as found:
        yield found
        found.said.clear()  # a refusal is told on the console, and is what is wanted here


async def visitor(world: World, here: Browsing) -> tuple[Page, str]:
    """Whoever may decide here, and the address of the decision; by a name that has neighbours."""
    app = f"http://localhost:{urlsplit(here.address).port}"
    cookie = (await world.headers("operator"))["cookie"].removeprefix(f"{COOKIE}=")
    context = await here.browser.new_context()
    here.stack.push_async_callback(context.close)
    jar = {"name": COOKIE, "value": cookie, "url": app, "sameSite": "Lax", "httpOnly": True}
    await context.add_cookies([jar])  # type: ignore[list-item]  # the shape is playwright's
    page = await context.new_page()
    page.set_default_timeout(10_000)
    return page, f"{app}/projects/shop/builds/{world.named['number']}"


@pytest.mark.parametrize("host", LURES)
async def test_a_form_elsewhere_decides_nothing(world: World, here: Browsing, host: str) -> None:
    page, build = await visitor(world, here)
    before = await state_of(world.db)
    async with luring() as port:
        await page.goto(f"http://{host}:{port}/?target={build}/decisions")
        async with page.expect_navigation():
            await page.click("button")
    assert "does not come from a page of this server" in await page.inner_text("main")
    assert await state_of(world.db) == before


@pytest.mark.parametrize("host", LURES)
async def test_a_script_elsewhere_decides_nothing(world: World, here: Browsing, host: str) -> None:
    page, build = await visitor(world, here)
    before = await state_of(world.db)
    async with luring() as port:
        await page.goto(f"http://{host}:{port}/")
        assert await page.evaluate(SEND, f"{build}/decisions") == ["no-cors: sent", "cors: refused"]
    assert await state_of(world.db) == before


async def test_the_same_form_on_our_own_page_decides(world: World, here: Browsing) -> None:
    """So that what is refused above is refused for where it comes from."""
    page, build = await visitor(world, here)
    before = await state_of(world.db)
    await page.goto(build)
    assert await page.evaluate(SEND, f"{build}/decisions") == ["no-cors: sent", "cors: sent"]
    assert await state_of(world.db) != before
