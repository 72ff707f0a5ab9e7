"""What only a browser shows of a build under way: it goes on without being asked."""

import pytest
from playwright.async_api import Page

from storyshelf.builds.build import Build
from tests.builds.hand import Hand
from tests.ui.browsing import Browsing

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

BUILD = "/projects/shop/builds/1"
LOOK = {f"a--{number:02}": "red" for number in range(12)}


@pytest.fixture
async def build(hand: Hand) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    return build


async def ends_in_front_of(page: Page, hand: Hand, build: Build) -> None:
    await page.goto(BUILD)
    await page.wait_for_selector("#state :text('capturing')")
    await hand.capture(build, LOOK)
    await hand.finalise(build)
    await page.wait_for_selector("#state :text('accepted')")


async def test_a_page_under_way_ends_in_front_of_who_looks(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await ends_in_front_of(page, hand, build)
    assert await page.locator("#group-added .card").count() == 12
    assert await page.evaluate("document.title") == "accepted · build 1 · Shop · storyshelf"


async def test_without_script_it_reloads_by_itself(
    hand: Hand, build: Build, here: Browsing
) -> None:
    await ends_in_front_of(await here.page(java_script_enabled=False), hand, build)
