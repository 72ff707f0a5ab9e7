"""What is seen of two pictures: views, zoom, places, regions; measured on the screen."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.snapshots.snapshot import CaptureError, Notice, SnapshotResult, Verdict
from storyshelf.snapshots.violations import compare
from tests.builds.hand import Hand
from tests.ui.browsing import Browsing, browsing, colour_at, faults_of
from tests.ui.review_build import Drawing, Drawings, Retouch, drawn, stored
from tests.ui.test_violations import found

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

SPOT = (192, 32, 32)
PLAIN = {(255, 255, 255), (219, 228, 238)}  # the stripes of a drawing
MASK = (255, 0, 110)
WIDE = {"width": 1440, "height": 900}
WINDOW = "document.querySelector('.pane-new .window')"
STAGE = ".pane-new .stage"


@pytest.fixture
async def here(db: Database, hand: Hand, tmp_path: Path) -> AsyncIterator[Browsing]:
    async with browsing(db, tmp_path / "blobs") as found:
        yield found


async def a_change(hand: Hand, before: Drawing, after: Drawing) -> str:
    """Let one story change; return the address of its snapshot."""
    return (await changed(hand, {"a--one": before}, {"a--one": after}))["a--one"]


async def changed(
    hand: Hand, before: Drawings, after: Drawings, retouch: Retouch = lambda result: result
) -> Mapping[str, str]:
    await drawn(hand, before)
    build = await drawn(hand, after, retouch)
    async with hand.db.transaction() as tx:
        rows = await tx.execute(
            text("SELECT story_id, id FROM snapshots WHERE build_id = :build"), {"build": build.id}
        )
        return {row.story_id: f"/projects/shop/builds/2/snapshots/{row.id}" for row in rows}


async def at(here: Browsing, address: str, **options: Any) -> Page:
    page = await here.page(**{"viewport": WIDE, **options})
    await page.goto(address)
    await page.wait_for_load_state("networkidle")
    return page


async def number(page: Page, question: str) -> float:
    return float(await page.evaluate(question))


async def test_both_pictures_are_seen_at_one_scale_though_their_sizes_differ(
    hand: Hand, here: Browsing
) -> None:
    page = await at(here, await a_change(hand, Drawing(400, 300), Drawing(440, 280)))
    assert await page.inner_text(".size-note") == (
        "The new picture is 40 px wider and 20 px shorter: 400 × 300 px became 440 × 280 px."  # noqa: RUF001
    )
    widths = await page.evaluate(
        "[...document.querySelectorAll('.layer-baseline image, .layer-new image')]"
        ".map((image) => Math.round(image.getBoundingClientRect().width))"
    )
    assert widths == [400, 440]


async def test_swiping_shows_the_baseline_left_of_the_divider(hand: Hand, here: Browsing) -> None:
    spots = ((0, 0, 600, 400),)
    page = await at(here, await a_change(hand, Drawing(600, 400), Drawing(600, 400, spots)))
    await page.keyboard.press("2")
    stage = page.locator(STAGE)
    assert await colour_at(stage, 0.3, 0.25) in PLAIN
    assert await colour_at(stage, 0.7, 0.25) == SPOT
    await page.keyboard.press("Home")
    assert await colour_at(stage, 0.3, 0.25) == SPOT
    for _ in range(4):
        await page.keyboard.press("PageUp")
    divider = page.locator("role=slider")
    assert await divider.get_attribute("aria-valuenow") == "40"
    assert await colour_at(stage, 0.3, 0.25) in PLAIN
    box = await divider.bounding_box()
    seen = await stage.bounding_box()
    assert box
    assert seen
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    await page.mouse.down()
    await page.mouse.move(seen["x"] + seen["width"] * 0.2, box["y"] + 40, steps=3)
    await page.mouse.up()
    assert await divider.get_attribute("aria-valuenow") == "20"
    assert await colour_at(stage, 0.3, 0.25) == SPOT


async def test_what_changed_is_marked_and_what_is_the_same_fades(
    hand: Hand, here: Browsing
) -> None:
    spots = ((300, 100, 200, 100),)
    page = await at(here, await a_change(hand, Drawing(600, 400), Drawing(600, 400, spots)))
    stage = page.locator(STAGE)
    assert await colour_at(stage, 400 / 600, 150 / 400) == SPOT
    await page.keyboard.press("3")
    assert await colour_at(stage, 400 / 600, 150 / 400) == MASK
    faded = await colour_at(stage, 0.25, 10 / 400)
    assert len(set(faded)) == 1, "grey"
    assert min(faded) > 240


async def test_the_mask_is_laid_on_any_picture_and_taken_off_again(
    hand: Hand, here: Browsing
) -> None:
    spots = ((300, 100, 200, 100),)
    page = await at(here, await a_change(hand, Drawing(600, 400), Drawing(600, 400, spots)))
    stage = page.locator(STAGE)
    await page.keyboard.press("h")
    assert await colour_at(stage, 400 / 600, 150 / 400) == MASK
    await page.uncheck("#show-mask")
    assert await colour_at(stage, 400 / 600, 150 / 400) == SPOT
    await page.uncheck("#show-regions")
    assert not await page.is_visible(".region")


async def test_blinking_shows_one_after_the_other(hand: Hand, here: Browsing) -> None:
    spots = ((0, 0, 600, 400),)
    page = await at(here, await a_change(hand, Drawing(600, 400), Drawing(600, 400, spots)))
    await page.keyboard.press("4")
    for seen in ("baseline", "new"):
        await page.wait_for_selector(f"#viewer[data-seen={seen}]")
    await page.click("#blink")
    await page.keyboard.press("5")
    assert await colour_at(page.locator(STAGE), 0.5, 0.25) == SPOT
    await page.keyboard.press("x")
    assert await colour_at(page.locator(STAGE), 0.5, 0.25) in PLAIN
    assert await page.is_visible(".chip-baseline")


async def test_nothing_blinks_for_who_wants_no_motion(hand: Hand, here: Browsing) -> None:
    address = await a_change(hand, Drawing(60, 40), Drawing(60, 40, ((0, 0, 9, 9),)))
    page = await here.page(viewport=WIDE, reduced_motion="reduce")
    await page.clock.install()
    await page.goto(address)
    await page.keyboard.press("4")
    await page.clock.run_for(10_000)
    assert await page.get_attribute("#viewer", "data-seen") == "new"
    await page.keyboard.press("x")
    assert await page.get_attribute("#viewer", "data-seen") == "baseline"
    await page.click("#blink")  # asked for by hand
    await page.clock.run_for(800)
    assert await page.get_attribute("#viewer", "data-seen") == "baseline"
    await page.clock.run_for(800)
    assert await page.get_attribute("#viewer", "data-seen") == "new"


async def test_zoom_goes_round_and_by_steps_and_shows_pixels(hand: Hand, here: Browsing) -> None:
    address = await a_change(hand, Drawing(900, 300), Drawing(900, 300, ((0, 0, 9, 9),)))
    page = await at(here, address)
    width = f"document.querySelector('{STAGE}').getBoundingClientRect().width"
    assert await number(page, width) < 900
    assert (await page.inner_text("#zoom")).startswith("Fit ")
    for seen, wide in (("100 %", 900), ("200 %", 1800)):
        await page.keyboard.press("z")
        assert await page.inner_text("#zoom") == seen
        assert await number(page, width) == wide
    assert not await page.evaluate("document.querySelector('#viewer.shows-pixels') !== null")
    await page.keyboard.press("+")
    assert await number(page, width) == 2700
    image = f"getComputedStyle(document.querySelector('{STAGE} image')).imageRendering"
    assert await page.evaluate(image) == "pixelated"
    await page.keyboard.press("-")
    await page.keyboard.press("z")
    assert (await page.inner_text("#zoom")).startswith("Fit ")


async def test_both_pictures_move_in_step(hand: Hand, here: Browsing) -> None:
    address = await a_change(hand, Drawing(900, 2000), Drawing(900, 2000, ((0, 0, 9, 9),)))
    page = await at(here, address)
    await page.keyboard.press("z")
    await page.keyboard.press("z")  # the new picture has the focus now
    left, top = [await number(page, f"{WINDOW}.scroll{side}") for side in ("Left", "Top")]
    for _ in range(3):
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("ArrowRight")
    await both_at(page, left + 120, top + 120)
    box = await page.locator(".window >> nth=0").bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.move(*middle)
    await page.mouse.down()
    await page.mouse.move(middle[0] + 60, middle[1] - 120, steps=4)
    await page.mouse.up()
    await both_at(page, left + 60, top + 240)


async def both_at(page: Page, left: float, top: float) -> None:
    """Wait until both pictures are moved to there."""
    is_there = (
        "([left, top]) => [...document.querySelectorAll('.window')].every((each) =>"
        " Math.abs(each.scrollLeft - left) < 2 && Math.abs(each.scrollTop - top) < 2)"
    )
    await page.wait_for_function(is_there, arg=[left, top])


async def test_the_wheel_zooms_at_the_place_it_points_to(hand: Hand, here: Browsing) -> None:
    spots = ((400, 100, 40, 40),)
    page = await at(here, await a_change(hand, Drawing(900, 300), Drawing(900, 300, spots)))
    await page.keyboard.press("5")
    await page.keyboard.press("z")
    seen = await page.locator(STAGE).bounding_box()
    assert seen
    await page.mouse.move(seen["x"] + 420, seen["y"] + 120)
    await page.keyboard.down("Control")
    for _ in range(4):
        await page.mouse.wheel(0, -100)
    await page.wait_for_selector("#zoom:has-text('400 %')")
    await page.keyboard.up("Control")
    spot = await page.locator(f"{STAGE} .region-line").bounding_box()
    assert spot
    assert spot["x"] + spot["width"] / 2 == pytest.approx(seen["x"] + 420, abs=4)


async def test_regions_are_gone_through_and_brought_into_view(hand: Hand, here: Browsing) -> None:
    spots = ((10, 10, 40, 20), (20, 3000, 40, 20), (700, 14900, 60, 30))
    page = await at(here, await a_change(hand, Drawing(900, 15000), Drawing(900, 15000, spots)))
    assert await page.inner_text("#region") == "3 regions"
    for place, key in ((1, "]"), (2, "]"), (3, "]"), (1, "]"), (3, "[")):
        await page.keyboard.press(key)
        assert await page.inner_text("#region") == f"Region {place} of 3"
    window = await page.locator(".pane-new .window").bounding_box()
    region = await page.locator(".region.is-current .region-line").bounding_box()
    assert window
    assert region
    assert window["y"] <= region["y"] <= window["y"] + window["height"] - region["height"]
    assert window["x"] <= region["x"] <= window["x"] + window["width"] - region["width"]
    assert await colour_at(page.locator(".region.is-current .region-line"), 0.5, 0.5) == SPOT


async def test_a_picture_of_thirty_thousand_pixels_is_usable(hand: Hand, here: Browsing) -> None:
    spots = ((20, 29900, 40, 40),)
    page = await at(here, await a_change(hand, Drawing(300, 30000), Drawing(300, 30000, spots)))
    await page.keyboard.press("]")
    assert await colour_at(page.locator(".region.is-current .region-line"), 0.5, 0.5) == SPOT
    await page.keyboard.press("3")
    await page.keyboard.press("]")
    assert await colour_at(page.locator(".region.is-current .region-line"), 0.5, 0.5) == MASK


async def test_pictures_that_were_taken_of_an_unstable_story_are_flipped_through(
    hand: Hand, here: Browsing
) -> None:
    frames = [await stored(hand, Drawing(80, 60, spot).png) for spot in ((), ((0, 0, 9, 9),))]

    def unstable(result: SnapshotResult) -> SnapshotResult:
        return replace(result, verdict=Verdict.UNSTABLE, frames=tuple(frames))

    before, after = {"a--one": Drawing(80, 60)}, {"a--one": Drawing(80, 60, ((20, 20, 9, 9),))}
    addresses = await changed(hand, before, after, unstable)
    page = await at(here, addresses["a--one"])
    for told in ("Frame 1 of 2", "Frame 2 of 2", "Frame 1 of 2"):
        await page.keyboard.press("f")
        assert await page.inner_text("#frame") == told
        assert await page.locator("#flip figure:visible").count() == 1


def troubled(result: SnapshotResult) -> SnapshotResult:
    """Give the second story of three an error, and the third all sorts of warnings."""
    warnings = (
        Notice("resource_failed", "404: assets/a.png"),
        Notice("blocked_request", "https://fonts.test/a.woff2"),
        Notice("unsettled", "the page was still changing after 10 s"),
    )
    error = CaptureError("play_failed", "expected 1 to be 2", "at play (a.js:3:1)")
    if result.id % 3 == 0:
        return replace(result, verdict=Verdict.ERRORED, error=error)
    broken = found("old", "x" * 400)
    return replace(
        result, warnings=warnings, findings=broken, standing=compare(found("old", "gone"), broken)
    )


@pytest.mark.timeout(90)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width_px", [320, 1440])
async def test_the_page_is_without_fault_to_axe(
    hand: Hand, here: Browsing, scheme: str, width_px: int
) -> None:
    names = ("a--one", "b--two", "c--three")
    before = {name: Drawing(600, 2400) for name in names}
    after = {name: Drawing(640, 2400, ((20, 20, 90, 30),)) for name in names}
    addresses = await changed(hand, before, after, troubled)
    size = {"width": width_px, "height": 800}
    for name in names:
        page = await at(here, addresses[name], viewport=size, color_scheme=scheme)
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_every_view_and_the_list_of_keys_is_without_fault_to_axe(
    hand: Hand, here: Browsing
) -> None:
    address = await a_change(hand, Drawing(60, 40), Drawing(60, 40, ((0, 0, 9, 9),)))
    page = await at(here, address)
    await page.click(".strip-filter summary")
    await page.focus(".window >> nth=0")
    for key in ("2", "3", "5", "?"):
        await page.keyboard.press(key)
        assert await faults_of(page) == []
