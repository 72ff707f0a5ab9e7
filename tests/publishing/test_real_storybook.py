"""A Storybook that npm built, browsed as a member does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from storyshelf.auth.permissions import Role
from storyshelf.db.engine import Database
from tests.publishing.browsing import DEFAULT, Victim, a_browser, a_victim, serving
from tests.storybook_builds import build_example

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # npm may have to build it first
STORY = "folio-avatar--sizes"


@pytest.fixture
async def member(db: Database, tmp_path: Path) -> AsyncIterator[Victim]:
    """Somebody who may look at the shop, in which the example was published."""
    folder = build_example()
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    async with serving(db, tmp_path / "blobs", DEFAULT) as served, a_browser() as browser:
        shop = await served.shelf.project("shop")
        await served.shelf.publish(shop, files, branch="feature/🐛")
        yield await a_victim(served, browser, {shop.id: Role.VIEWER})


def watched(page: Page) -> list[str]:
    """Return a list to which everything goes that the page complains of."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda asked: complaints.append(f"{asked.url} {asked.failure}"))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    return complaints


async def test_the_manager_opens_and_shows_a_story(member: Victim) -> None:
    page = await member.context.new_page()
    complaints = watched(page)
    await page.goto(f"{member.served.app}/projects/shop/branches/feature%2F%F0%9F%90%9B/storybook")
    origin = member.served.origin("shop")
    await page.wait_for_url(f"{origin}/builds/1/?path=/*/**")
    shown = page.frame_locator("#storybook-preview-iframe").locator("#storybook-docs h1")
    await expect(shown.first).to_be_visible(timeout=30_000)
    assert complaints == []
    assert {a.status for a in member.answers if a.url.startswith(f"{origin}/builds/1/")} == {200}


async def test_a_deep_link_shows_that_story(member: Victim) -> None:
    page = await member.context.new_page()
    complaints = watched(page)
    await page.goto(f"{member.served.app}/projects/shop/builds/1/storybook?path=/story/{STORY}")
    frame = page.frame_locator("#storybook-preview-iframe").locator("#storybook-root > *")
    await expect(frame.first).to_be_visible(timeout=30_000)
    assert page.url.endswith(f"/builds/1/?path=/story/{STORY}")
    assert complaints == []


async def test_a_story_stands_alone_without_the_manager(member: Victim) -> None:
    await member.open_storybook("shop")
    page = await member.context.new_page()
    complaints = watched(page)
    await page.goto(
        f"{member.served.origin('shop')}/builds/1/iframe.html?id={STORY}&viewMode=story"
    )
    await expect(page.locator("#storybook-root > *").first).to_be_visible(timeout=30_000)
    assert complaints == []
