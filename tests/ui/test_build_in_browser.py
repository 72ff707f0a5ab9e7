"""A build's page in a real browser: for everybody, fresh in place, decided without script too."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from storyshelf.builds.build import Build, BuildState
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand
from tests.people import ADA, BEN
from tests.ui.browsing import Browsing, faults_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

BUILD = "/projects/shop/builds/2"
LOOK = {f"a--{number:02}": "red" for number in range(12)} | {"d--gone": "old", "e--same": "red"}
NEXT = {f"a--{number:02}": "pink" for number in range(12)} | {
    "b--error": "!",
    "c--new": "white",
    "e--same": "red",
}
SMALL = {"width": 600, "height": 400}
ASK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"
TOP_OF = "id => document.getElementById(id).getBoundingClientRect().top"


@pytest.fixture
async def build(hand: Hand) -> Build:
    """Twelve changed, one each of added, removed, errored and unchanged."""
    await hand.run(LOOK)
    return await hand.run(NEXT)


async def card_of(hand: Hand, build: Build, story: str) -> str:
    rows = await snapshots_of(hand, build)
    return f"#card-{rows[story]['id']}"


async def decided(hand: Hand, build: Build, decision: str) -> int:
    rows = await snapshots_of(hand, build)
    return [row["decision"] for row in rows.values()].count(decision)


async def refreshed(page: Page) -> None:
    """Have the page ask the server, and wait until it has taken in the answer."""
    async with page.expect_response("**/live*"):
        await page.evaluate(ASK_NOW)
    await page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-settling')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1440])
async def test_the_page_is_for_everybody(
    hand: Hand, build: Build, here: Browsing, width: int, scheme: str
) -> None:
    page = await here.page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    await page.goto(BUILD)
    await page.locator(".card-choose input").first.check()
    await page.locator(".card button").nth(2).click()
    await expect(page.locator("#undo-last")).to_be_visible()
    await page.click("#accepted-all > summary")
    await page.click("#shards > summary")
    assert await faults_of(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_a_build_under_way_is_for_everybody(hand: Hand, here: Browsing) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    page = await here.page()
    await page.goto("/projects/shop/builds/1")
    await page.click("#cancel > summary")
    assert await faults_of(page) == []


async def test_another_reviewers_decision_is_seen_without_a_reload(
    hand: Hand, build: Build, here: Browsing
) -> None:
    ada, ben = await here.page(ADA.email), await here.page(BEN.email)
    await ada.goto(BUILD)
    await ben.goto(BUILD)
    await ben.evaluate("window.isTheSamePage = true")
    card = await card_of(hand, build, "a--03")
    await ada.click(f"{card} button:text('Accept')")
    await expect(ada.locator(f"{card} .sign")).to_have_text("accepted")
    await expect(ben.locator(f"{card} .sign")).to_have_text("accepted")
    assert await ben.evaluate("window.isTheSamePage")
    assert await ben.locator("#undo-last").count() == 0  # it is Ada's


async def test_a_refresh_keeps_what_is_the_readers_own(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page(viewport=SMALL)
    await page.goto(f"{BUILD}?decision=undecided")
    await page.locator(".card-choose input").nth(5).check()
    await page.click("#shards > summary")
    await page.fill("#filter-text", "a--")
    await page.wait_for_url("**q=a--*")
    look = (await card_of(hand, build, "a--06")).replace("card", "look")
    await page.focus(look)
    await page.evaluate("scrollBy(0, 150)")
    stood = await page.evaluate(TOP_OF, look[1:])
    other = await here.page(BEN.email)
    await other.goto(BUILD)
    await other.click(f"{await card_of(hand, build, 'a--11')} button:text('Deny')")
    await expect(other.locator("#undo-last")).to_be_visible()
    await refreshed(page)
    await expect(page.locator("#group-changed .card")).to_have_count(11)  # one is decided
    assert await page.evaluate("document.activeElement.id") == look[1:]
    assert await page.evaluate(TOP_OF, look[1:]) == pytest.approx(stood, abs=2)
    assert await page.locator(".card-choose :checked").count() == 1
    assert await page.evaluate("document.getElementById('shards').open")
    assert await page.input_value("#filter-text") == "a--"
    await expect(page.locator("#chosen-count")).to_have_text("1 chosen")


async def test_what_one_types_stays_while_the_page_refreshes(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    await page.evaluate("""() => {
        const text = document.getElementById("filter-text");
        text.focus();
        text.value = "half a wo";
    }""")
    await refreshed(page)
    assert await page.input_value("#filter-text") == "half a wo"


async def test_all_are_decided_after_a_question_and_taken_back(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    await page.click("#accepted-all > summary")
    await expect(page.locator("#accepted-all form")).to_contain_text("Accept 14 snapshots?")
    await expect(page.locator("#accepted-all form")).to_contain_text(
        "1 errored snapshot is not among them."
    )
    await page.keyboard.press("Escape")
    await expect(page.locator("#accepted-all form")).to_be_hidden()
    assert await decided(hand, build, "accepted") == 0
    await page.keyboard.press("Enter")
    await page.click("#accepted-all button")
    await expect(page.locator("#undo-last")).to_contain_text("Undo: 14 accepted")
    assert await decided(hand, build, "accepted") == 14
    await page.click("#undo-last")
    await expect(page.locator("#accepted-all > summary")).to_be_visible()
    assert await decided(hand, build, "accepted") == 0


async def test_the_chosen_are_decided_together(hand: Hand, build: Build, here: Browsing) -> None:
    page = await here.page()
    await page.goto(BUILD)
    assert not await page.is_visible("#chosen")
    for place in (0, 2, 4):
        await page.locator(".card-choose input").nth(place).check()
    await expect(page.locator("#chosen-count")).to_have_text("3 chosen")
    await page.click("#chosen-deny")
    await expect(page.locator("#chosen")).to_be_hidden()
    assert await decided(hand, build, "denied") == 3


async def test_the_focus_stays_on_the_card_that_is_decided(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    card = await card_of(hand, build, "a--02")
    await page.focus(f"{card} button:text('Accept')")
    await page.keyboard.press("Enter")
    await expect(page.locator(f"{card} button").first).to_have_text("Undo")
    await expect(page.locator(f"{card} button").first).to_be_focused()


async def test_a_decision_that_moved_is_told_in_the_page(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page(ADA.email)
    await page.goto(BUILD)
    await page.route("**/live*", lambda _route: None)  # it hears of nothing
    card = await card_of(hand, build, "a--02")
    other = await here.page(BEN.email)
    await other.goto(BUILD)
    await other.click(f"{card} button:text('Deny')")
    await expect(other.locator(f"{card} .sign")).to_have_text("denied")
    await page.click(f"{card} button:text('Accept')")
    await expect(page.locator("#notice")).to_contain_text(
        "The decision was none when you looked and is denied now"
    )
    assert await decided(hand, build, "accepted") == 0
    await page.unroute("**/live*")
    await refreshed(page)
    await page.click(f"{card} button:text('Accept')")
    await expect(page.locator(f"{card} .sign")).to_have_text("accepted")
    await expect(page.locator("#notice")).to_be_hidden()
    assert any("409" in words for words in here.said)
    here.said.clear()


async def test_a_refresh_that_began_before_a_decision_does_not_undo_it_on_the_page(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    before, is_decided = await page.content(), asyncio.Event()

    async def answer_late(route: Route) -> None:
        await is_decided.wait()
        await route.fulfill(status=200, body=before, content_type="text/html")

    await page.route("**/live*", answer_late)
    async with page.expect_request("**/live*"):
        await page.evaluate(ASK_NOW)
    card = await card_of(hand, build, "a--02")
    await page.click(f"{card} button:text('Accept')")
    await expect(page.locator(f"{card} .sign")).to_have_text("accepted")
    is_decided.set()
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    await expect(page.locator(f"{card} .sign")).to_have_text("accepted")
    assert await page.locator("#away").count() == 0
    assert all(words.startswith("htmx:") for words in here.said)  # it tells of the one it ended
    here.said.clear()


async def test_a_server_that_is_away_is_told_of_and_asked_again(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    await page.route("**/live*", lambda route: route.fulfill(status=503))
    await page.evaluate(ASK_NOW)
    await expect(page.locator("#notice")).to_contain_text("The server does not answer")
    assert await page.locator(".card").count() > 0
    await page.unroute("**/live*")
    await expect(page.locator("#notice")).to_be_hidden()
    here.said.clear()


async def test_a_decision_that_does_not_reach_the_server_is_not_taken_for_one(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    await page.route("**/decisions", lambda route: route.abort())
    card = await card_of(hand, build, "a--02")
    await page.click(f"{card} button:text('Accept')")
    await expect(page.locator("#notice")).to_contain_text("nothing was decided. Try once more.")
    await expect(page.locator(f"{card} .sign")).to_have_text("undecided")
    here.said.clear()


async def test_who_is_signed_out_meanwhile_is_led_to_the_door(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page()
    await page.goto(BUILD)
    await page.context.clear_cookies()
    await page.evaluate(ASK_NOW)
    await expect(page.locator("body")).to_contain_text("ign in")
    assert await page.locator("#live").count() == 0
    here.said.clear()


async def test_without_script_all_is_decided_too(hand: Hand, build: Build, here: Browsing) -> None:
    page = await here.page(java_script_enabled=False)
    await page.goto(f"{BUILD}?verdict=changed")
    await page.click(f"{await card_of(hand, build, 'a--02')} button:text('Deny')")
    assert page.url.endswith("?verdict=changed")
    assert await decided(hand, build, "denied") == 1
    await page.locator(".card-choose input").nth(0).check()
    await page.locator(".card-choose input").nth(3).check()
    await page.click("#chosen-accept")
    assert await decided(hand, build, "accepted") == 2
    await page.click("#accepted-changed > summary")
    await page.click("#accepted-changed button")
    assert await decided(hand, build, "accepted") == 11
    await page.click("#undo-last")
    assert await decided(hand, build, "accepted") == 2


async def test_without_script_the_filter_is_a_form(
    hand: Hand, build: Build, here: Browsing
) -> None:
    page = await here.page(java_script_enabled=False)
    await page.goto(BUILD)
    await page.fill("#filter-text", "A--0")
    await page.select_option("#filter-decision", "undecided")
    await page.click("#filter-go")
    assert await page.locator(".card").count() == 10
    await page.click("#filter-none")
    assert await page.locator(".card").count() == 15


async def test_a_build_is_cancelled_and_captured_again(hand: Hand, here: Browsing) -> None:
    build = await hand.upload(sorted(LOOK))
    page = await here.page()
    await page.goto("/projects/shop/builds/1")
    await page.click("#cancel > summary")
    await page.click("#cancel button")
    await expect(page.locator("#state")).to_contain_text("Cancelled: cancelled by ada@shelf.test")
    assert (await hand.fresh(build)).state is BuildState.CANCELLED
    await page.click("button:text('Capture again')")
    await expect(page.locator("#state")).to_contain_text("It waits for a consumer")
