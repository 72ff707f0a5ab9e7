"""A trace in the viewer that the content host serves, in a real browser."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Page, expect

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from tests.builds.hand import Hand
from tests.publishing.browsing import DEFAULT, Victim, a_browser, a_victim, serving
from tests.traces.recordings import a_recording, recorded

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

SHOWN = "<button>drawn by the story</button>"
PLANTED = "<button>planted by somebody else</button>"


@asynccontextmanager
async def elsewhere(content: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Serve it to whoever asks, from an origin that is not ours; return where, and who asked."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        head = (
            f"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {len(content)}"
        )
        writer.write(head.encode() + b"\r\nConnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/trace.zip", asked


async def viewer_with(victim: Victim, origin: str, trace: str) -> Page:
    """Follow somebody's link to the viewer."""
    tab = await victim.context.new_page()
    await tab.goto(f"{origin}/trace-viewer/index.html?trace={quote(trace, safe='')}")
    return tab


async def test_a_member_looks_into_a_trace_and_nobody_else_puts_one_there(
    db: Database, tmp_path: Path
) -> None:
    async with serving(db, tmp_path / "blobs", DEFAULT) as served, a_browser() as browser:
        shop = await served.shelf.project("shop")
        hand = Hand(db, served.parts.blobs, shop)
        build = await hand.run({"a--one": "!"})
        content = await a_recording(browser, tmp_path, SHOWN)
        snapshot = await recorded(hand, build, "a--one", content)
        victim = await a_victim(served, browser, {shop.id: Role.VIEWER})

        page = await victim.open(f"/projects/shop/builds/1/snapshots/{snapshot}")
        async with victim.context.expect_page() as opening:
            await page.click("text=Open the trace")
        tab, origin = await opening.value, served.origin("shop")
        drawn = tab.frame_locator("iframe.snapshot-visible").get_by_text("drawn by the story")
        await expect(drawn).to_be_visible(timeout=20_000)
        await tab.get_by_role("tab", name="Console").click()
        await expect(tab.get_by_text("said by the story").first).to_be_visible()
        assert tab.url.startswith(f"{origin}/trace-viewer/")
        assert {status for path, status in victim.statuses(origin).items()} <= {200, 206, 303}

        planted = await a_recording(browser, tmp_path, PLANTED)
        async with elsewhere(planted) as (address, asked):
            inside = f"data:application/zip;base64,{b64encode(planted).decode()}"
            for trace in (address, inside):
                lured = await viewer_with(victim, origin, trace)
                refused = lured.get_by_text("Could not load trace").or_(lured.get_by_text("failed"))
                await expect(refused.first).to_be_visible(timeout=20_000)
                assert "planted" not in await lured.content()
            assert asked == []
