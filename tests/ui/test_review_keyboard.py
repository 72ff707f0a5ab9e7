"""A review by keyboard alone, in a real browser."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from sqlalchemy import text

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, SnapshotId
from storyshelf.review.decide import Seen, decide
from storyshelf.snapshots.decision import Decision
from tests.builds.hand import Hand
from tests.people import BEN
from tests.ui.browsing import Browsing, browsing
from tests.ui.review_build import Drawing, drawn

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

BUILD = "/projects/shop/builds/2"
FOCUSED = "document.activeElement"
SIZES = ((640, 360), (180, 320), (400, 100), (64, 64), (200, 1500))


@pytest.fixture
async def here(db: Database, hand: Hand, tmp_path: Path) -> AsyncIterator[Browsing]:
    async with browsing(db, tmp_path / "blobs") as found:
        yield found


async def changes(hand: Hand, count: int) -> list[SnapshotId]:
    """Make a build in which so many stories changed; return them in the order of review."""
    names = [f"story-{number:02}" for number in range(count)]
    sizes = {name: SIZES[place % len(SIZES)] for place, name in enumerate(names)}
    await drawn(hand, {name: Drawing(*size) for name, size in sizes.items()})
    spots = ((10, 10, 20, 12), (40, 40, 16, 16))
    build = await drawn(hand, {name: Drawing(*size, spots) for name, size in sizes.items()})
    async with hand.db.transaction() as tx:
        rows = await tx.execute(
            text("SELECT id FROM snapshots WHERE build_id = :build ORDER BY title, id"),
            {"build": build.id},
        )
        return [SnapshotId(row.id) for row in rows]


async def decisions(db: Database) -> dict[str, int]:
    async with db.transaction() as tx:
        rows = await tx.execute(
            text(
                "SELECT decision, count(*) AS number FROM snapshots"
                " JOIN builds b ON b.id = build_id WHERE b.number = 2 GROUP BY decision"
            )
        )
        return {row.decision: row.number for row in rows}


async def scalar(db: Database, question: str) -> Any:
    async with db.transaction() as tx:
        return (await tx.execute(text(question))).scalar_one()


def of(snapshot: SnapshotId) -> str:
    return f"{BUILD}/snapshots/{snapshot}"


async def press_and_leave(page: Page, key: str) -> None:
    """Press a key that leads to another page."""
    before = page.url.partition("#")[0]
    await page.keyboard.press(key)
    await page.wait_for_url(lambda url: url.partition("#")[0] != before)
    await page.wait_for_selector(".keys-on, #group-changed")


@pytest.mark.timeout(120)
async def test_sixty_changes_are_reviewed_without_a_mouse(hand: Hand, here: Browsing) -> None:
    await changes(hand, 60)
    page = await here.page(viewport={"width": 1440, "height": 900})
    await page.goto(BUILD)
    while not await page.evaluate(f"{FOCUSED}.href?.includes('/snapshots/')"):
        await page.keyboard.press("Tab")
    await press_and_leave(page, "Enter")
    for place in range(60):
        assert "undecided" in await page.inner_text("#decision .sign")
        await page.keyboard.press("3")
        await page.keyboard.press("]")
        assert await page.inner_text("#region") == "Region 1 of 2"
        await press_and_leave(page, "d" if place % 10 == 9 else "a")
    assert page.url.partition("#")[0].endswith(BUILD)
    assert await decisions(here.db) == {"accepted": 54, "denied": 6}
    assert await scalar(here.db, "SELECT state FROM builds WHERE number = 2") == BuildState.DENIED


async def test_from_the_builds_page_a_key_opens_what_waits_first(
    hand: Hand, here: Browsing
) -> None:
    first, second = await changes(hand, 2)
    page = await here.page()
    await page.goto(BUILD)
    await page.focus('input[type="search"]')
    await page.keyboard.press("j")
    assert page.url.endswith(BUILD)
    await page.evaluate("document.activeElement.blur()")
    await press_and_leave(page, "j")
    assert page.url.partition("#")[0].endswith(of(first))
    await press_and_leave(page, "a")
    await page.goto(BUILD)
    await press_and_leave(page, "j")
    assert page.url.partition("#")[0].endswith(of(second))


async def test_a_decision_leads_to_what_waits_next_and_is_taken_back_there(
    hand: Hand, here: Browsing
) -> None:
    first, second, _ = await changes(hand, 3)
    page = await here.page()
    await page.goto(of(first))
    await page.keyboard.press("y")
    await page.wait_for_url(f"**{of(second)}#*")
    await page.wait_for_selector("#flash:has-text('Accepted story-00: story-00. 2 to decide')")
    await page.keyboard.press("u")
    await page.wait_for_url(f"**{of(first)}#*")
    assert "undecided" in await page.inner_text("#decision .sign")
    assert await decisions(here.db) == {"none": 3}


async def test_a_decision_is_taken_back_on_its_own_page(hand: Hand, here: Browsing) -> None:
    first, second = await changes(hand, 2)
    page = await here.page()
    await page.goto(of(first))
    await page.keyboard.press("n")
    await page.wait_for_url(f"**{of(second)}#*")
    await press_and_leave(page, "k")
    assert "denied" in await page.inner_text("#decision .sign")
    await page.keyboard.press("u")
    await page.wait_for_selector("#decision .sign:has-text('undecided')")
    assert await decisions(here.db) == {"none": 2}


async def test_a_key_that_is_held_or_pressed_twice_decides_once(hand: Hand, here: Browsing) -> None:
    first, second, *_ = await changes(hand, 3)
    page = await here.page()
    await page.goto(of(first))
    await page.keyboard.down("a")
    await page.keyboard.down("a")
    await page.keyboard.press("d")
    await page.wait_for_url(f"**{of(second)}#*")
    await page.wait_for_selector("#flash:has-text('Accepted')")
    await page.keyboard.down("a")  # still the same press
    assert await decisions(here.db) == {"accepted": 1, "none": 2}


async def test_j_and_k_go_through_the_build_in_the_order_of_review(
    hand: Hand, here: Browsing
) -> None:
    first, second = await changes(hand, 2)
    page = await here.page()
    await page.goto(of(first))
    await press_and_leave(page, "j")
    assert of(second) in page.url
    await press_and_leave(page, "k")
    assert of(first) in page.url
    await page.keyboard.press("k")
    assert await page.inner_text("#flash") == "This is the first one."


async def test_what_is_chosen_and_how_it_is_seen_goes_along(hand: Hand, here: Browsing) -> None:
    first, _, third, fourth = await changes(hand, 4)
    page = await here.page()
    await page.goto(f"{of(first)}?decision=undecided&q=story")
    await page.keyboard.press("2")
    await page.keyboard.press("z")
    await press_and_leave(page, "j")
    await press_and_leave(page, "a")
    assert page.url.endswith(f"{of(third)}?decision=undecided&q=story#view=swipe&zoom=1")
    assert await page.get_attribute("#viewer", "data-view") == "swipe"
    await press_and_leave(page, "j")
    assert of(fourth) in page.url
    assert await page.locator(".shot").count() == 3


async def test_keys_do_nothing_in_a_field_or_with_a_modifier(hand: Hand, here: Browsing) -> None:
    first, _ = await changes(hand, 2)
    page = await here.page()
    await page.goto(of(first))
    await page.click(".strip-filter summary")
    await page.focus(".strip-filter input")
    await page.keyboard.type("jakd?3")
    assert await page.input_value(".strip-filter input") == "jakd?3"
    await page.focus(".window >> nth=0")
    for modifier in ("Control", "Alt", "Meta"):
        await page.keyboard.press(f"{modifier}+j")
    assert await page.get_attribute("#viewer", "data-view") == "side"
    assert of(first) in page.url
    assert await decisions(here.db) == {"none": 2}


async def test_single_keys_can_be_turned_off_for_good(hand: Hand, here: Browsing) -> None:
    first, second = await changes(hand, 2)
    page = await here.page(viewport={"width": 1440, "height": 900})
    await page.goto(of(first))
    await page.keyboard.press("?")
    assert await page.locator("dialog").get_attribute("open") is not None
    await page.keyboard.press("j")  # a dialog is open: the page behind it stays
    await page.uncheck("#single-keys")
    await page.keyboard.press("Escape")
    assert await page.locator("dialog").get_attribute("open") is None
    await page.keyboard.press("2")
    await page.reload()
    assert not await page.is_visible(".decision kbd")
    await page.keyboard.press("2")
    assert await page.get_attribute("#viewer", "data-view") == "side"
    await page.click("[data-do=keys]")
    await page.check("#single-keys")
    await page.keyboard.press("Escape")
    assert await page.is_visible(".decision kbd >> nth=0")
    await press_and_leave(page, "j")
    assert of(second) in page.url


async def test_what_somebody_else_decides_appears_without_a_reload(
    hand: Hand, here: Browsing
) -> None:
    first, second = await changes(hand, 2)
    page = await here.page()
    await page.goto(of(first))
    await page.focus("#decision button")
    build_id = BuildId(await scalar(here.db, "SELECT id FROM builds WHERE number = 2"))
    both = [Seen(first, Decision.NONE), Seen(second, Decision.NONE)]
    await decide(here.db, build_id, both, Decision.DENIED, BEN)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await page.wait_for_selector("#decision .sign:has-text('denied')")
    assert BEN.email in await page.inner_text("#decision")
    assert await page.inner_text("#flash") == "Decided by somebody else meanwhile: denied."
    assert await page.evaluate(f"{FOCUSED}.name") == "decision"
    assert await page.locator(".shot .mark-bad").count() == 2
    await page.keyboard.press("u")
    await page.wait_for_selector("#decision .sign:has-text('undecided')")


async def test_the_pictures_that_come_next_are_fetched_ahead(hand: Hand, here: Browsing) -> None:
    first, second = await changes(hand, 2)
    key = await scalar(here.db, f"SELECT image_key FROM snapshots WHERE id = {second}")
    page = await here.page()
    async with page.expect_request(f"**/images/{key}"):
        await page.goto(of(first))


async def test_without_script_everything_is_decided_by_buttons(hand: Hand, here: Browsing) -> None:
    first, second = await changes(hand, 2)
    page = await here.page(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    await page.goto(of(first))
    assert await page.locator(".stage").count() == 2
    assert not await page.is_visible("[data-show=swipe]")
    await page.click("text=Next")
    await page.wait_for_url(f"**{of(second)}")
    await page.click("text=Previous")
    await page.click("button:has-text('Deny')")
    await page.wait_for_url(f"**{of(second)}")
    await page.click("button:has-text('Accept')")
    await page.wait_for_url(f"**{BUILD}")
    assert await decisions(here.db) == {"denied": 1, "accepted": 1}
