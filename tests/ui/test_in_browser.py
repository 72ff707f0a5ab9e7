"""What only a browser shows: the page that keeps itself fresh, the keys, the mask."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn
from playwright.async_api import Page, async_playwright

from storyshelf.builds.build import Build
from storyshelf.db.engine import Database
from storyshelf.server import create_app
from storyshelf.snapshots.snapshot import StoredMask
from tests.app import parts_on
from tests.builds.hand import Hand, png_of
from tests.ui.test_snapshot import a_result

pytestmark = pytest.mark.browser

BUILD = "/projects/shop/builds/1"
LOOK = {f"a--{number:02}": "red" for number in range(12)}
PLACE = "document.querySelector('#verdicts').getBoundingClientRect().top"
NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium")


@pytest.fixture
async def address(db: Database, tmp_path: Path) -> AsyncIterator[str]:
    """The app on a loopback port of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = create_app(parts_on(db, tmp_path / "blobs"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True


@pytest.fixture
async def page(address: str) -> AsyncIterator[Page]:
    """A small window, so that there is something to scroll; what a console says is a failure."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path is not None, "install chromium-headless-shell to run the tests marked `browser`"
    said: list[str] = []
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        window = await browser.new_page(base_url=address, viewport={"width": 600, "height": 300})
        window.set_default_timeout(10_000)
        window.on("console", lambda message: said.append(message.text))
        window.on("pageerror", lambda error: said.append(str(error)))
        yield window
        await browser.close()
    assert said == []


async def a_planned_build(hand: Hand) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    return build


async def test_a_page_under_way_refreshes_in_place(hand: Hand, page: Page) -> None:
    build = await a_planned_build(hand)
    await page.goto(BUILD)
    await page.click("#shards > summary")
    await page.focus("#facts a.branch")
    await page.evaluate("scrollTo(0, 120)")
    seen_at = await page.evaluate(PLACE)
    await hand.capture(build, LOOK)
    await hand.finalise(build)
    await page.wait_for_selector("#state :text('accepted')")
    assert await page.locator("#group-added .card").count() == 12
    assert await page.evaluate("document.title") == "accepted · build 1 · Shop · storyshelf"
    assert await page.evaluate(PLACE) == pytest.approx(seen_at, abs=2)
    assert await page.evaluate("document.activeElement.className") == "branch"
    assert await page.evaluate("document.querySelector('#shards').open")
    assert await page.evaluate("document.querySelector('#live').dataset.refreshS") == ""


async def test_without_script_a_page_under_way_reloads_by_itself(
    hand: Hand, page: Page, address: str
) -> None:
    build = await a_planned_build(hand)
    browser = page.context.browser
    assert browser is not None
    plain = await browser.new_page(base_url=address, java_script_enabled=False)
    await plain.goto(BUILD)
    await hand.capture(build, LOOK)
    await hand.finalise(build)
    await plain.wait_for_selector("#state :text('accepted')")


async def test_j_and_k_go_through_the_snapshots_of_a_verdict(hand: Hand, page: Page) -> None:
    await hand.run(LOOK)
    await page.goto(BUILD)
    await page.click("#group-added .card a")
    await page.wait_for_url("**/snapshots/*")
    first = page.url
    await page.keyboard.press("j")
    await page.wait_for_url(lambda url: url != first)
    await page.keyboard.press("k")
    await page.wait_for_url(first)


async def test_the_mask_is_taken_off_the_picture_and_laid_on_again(hand: Hand, page: Page) -> None:
    await hand.run({"a--one": "red"})
    key = await hand.blobs.put(png_of("a mask"))
    await a_result(hand, {"a--one": "blue"}, mask=StoredMask(key, 9))
    await page.goto("/projects/shop/builds/2")
    await page.click("#group-changed .card a")
    mask = page.locator("image.mask")
    await mask.wait_for()
    await page.wait_for_function(  # its width is known once it is loaded
        "() => document.querySelector('image.mask').getBBox().width === 12"
    )
    assert await mask.evaluate("each => each.getBBox().x") == 1
    await page.uncheck("#show-mask")
    assert not await mask.is_visible()
    await page.check("#show-mask")
    await mask.wait_for()
