"""Every page holds WCAG 2.2 AA by axe, fits a small screen, and is in the list of all pages."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from storyshelf.server import create_app
from tests.app import parts_on
from tests.builds.hand import Hand
from tests.routes.walk import routes_of
from tests.ui.browsing import Browsing, faults_of
from tests.ui.every_page import furnish
from tests.ui.looking import each_way, opened

NO_PAGES = {  # pictures, files, parts of pages, and ways that lead elsewhere
    "/api/v1/openapi.json",
    "/metrics",
    "/projects",
    "/projects/{slug}/branches/{branch:path}/storybook",
    "/projects/{slug}/builds/{number}/live",
    "/projects/{slug}/builds/{number}/snapshots/{snapshot_id}/trace",
    "/projects/{slug}/builds/{number}/snapshots/{snapshot_id}/trace.zip",
    "/projects/{slug}/builds/{number}/storybook",
    "/projects/{slug}/images/{sha256}",
    "/projects/{slug}/thumbnails/{sha256}",
    "/static/{digest}/{name}",
}
WIDER = """[...document.querySelectorAll('main *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.wide, pre'))
    .slice(0, 3).map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.browser
@pytest.mark.timeout(900)
async def test_every_page_is_for_everybody(hand: Hand, here: Browsing) -> None:
    found: dict[str, list[str]] = {}
    for shown in await furnish(hand):
        async with opened(here, shown) as page:
            async for how in each_way(page):
                if faults := [*await faults_of(page), *await too_wide(page)]:
                    found[f"{shown.name}, {how}"] = faults
    here.said.clear()  # refusals are pages here, and a console tells of each
    assert found == {}


@pytest.mark.browser
@pytest.mark.timeout(60)
async def test_what_is_not_for_everybody_is_found(here: Browsing) -> None:
    page = await here.page()
    await page.set_content("<main><img src='data:,'><p style='width: 3000px'>far</p></main>")
    assert any(fault.startswith("image-alt") for fault in await faults_of(page))
    assert await too_wide(page) == ['too wide: <p style="width: 3000px">far</p>']


async def test_no_page_is_left_out(hand: Hand, tmp_path: Path) -> None:
    app = create_app(parts_on(hand.db, tmp_path))
    looked_at = {shown.path for shown in await furnish(hand)}
    pages = {
        route.removeprefix("GET ")
        for route in routes_of(app)
        if route.startswith("GET ") and not route.startswith(("GET /api/", "GET /health/"))
    }
    assert pages - NO_PAGES - looked_at == set()


async def too_wide(page: Page) -> list[str]:
    """Return what makes a reader scroll sideways; tables and code may, each in its own box."""
    if await page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
        return []
    return [f"too wide: {each}" for each in await page.evaluate(WIDER)] or ["too wide"]
