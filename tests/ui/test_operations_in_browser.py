"""The operations page in a real browser: fresh in place, and acted on with and without script."""

import re

import pytest
from playwright.async_api import expect

from storyshelf.builds.build import BuildState
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed
from tests.builds.hand import CONSUMER, Hand
from tests.ui.browsing import Browsing

pytestmark = [pytest.mark.browser, pytest.mark.timeout(90)]

LOOK = {"a--one": "red"}
ASK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"


async def test_what_fails_is_seen_without_reload_and_what_is_open_stays_open(
    hand: Hand, here: Browsing
) -> None:
    await hand.upload(sorted(LOOK))
    await hand.settle(await hand.claim("plan"), Failed("first"))
    page = await here.page()
    await page.goto("/operations")
    await page.click("#failed summary")
    await page.focus("#failed button")
    await page.evaluate("window.isSame = true")
    await hand.upload(sorted(LOOK), branch="other")
    await hand.settle(await hand.claim("plan"), Failed("second"))
    await page.evaluate(ASK_NOW)
    await expect(page.locator("#failed li.row")).to_have_count(2)
    assert await page.evaluate("window.isSame")
    assert await page.evaluate("document.querySelectorAll('#failed details[open]').length") == 1
    focused = await page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == await page.locator("#failed li.row:last-child button").get_attribute(
        "aria-label"
    )


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_failed_job_is_retried_by_its_button(
    hand: Hand, here: Browsing, *, has_script: bool
) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.settle(await hand.claim("plan"), Failed("no"))
    page = await here.page(java_script_enabled=has_script)
    await page.goto("/operations")
    await page.click("#failed button")
    await expect(page.locator("#queued li.row")).to_have_count(1)
    assert (await hand.fresh(build)).state is BuildState.QUEUED


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_consumer_is_stopped_after_a_question(
    hand: Hand, here: Browsing, *, has_script: bool
) -> None:
    async with hand.db.transaction() as tx:
        about = ("node-7", 4711, "1.2.3", ("plan",), ("plan",), None)
        await queue.register_consumer(tx, queue.Consumer(CONSUMER, *about, slots={"plan": 1}))
    page = await here.page(java_script_enabled=has_script)
    await page.goto("/operations")
    await page.click("summary:text-is('Stop…')")
    await page.click("button:text-is('Stop the consumer')")
    await expect(page.locator(".consumer-head .sign")).to_have_text("stops")
    await expect(page.locator(".consumer-foot")).to_have_count(0)


async def test_what_is_done_with_script_leaves_the_page_where_it_is(
    hand: Hand, here: Browsing
) -> None:
    await hand.upload(sorted(LOOK))
    await hand.settle(await hand.claim("plan"), Failed("no"))
    page = await here.page()
    await page.goto("/operations")
    await page.evaluate("window.isSame = true")
    await page.click("#failed button")
    await expect(page.locator("#queued li.row[id]")).to_have_count(1)
    assert await page.evaluate("window.isSame")


async def test_a_refusal_is_said_on_the_page_itself(hand: Hand, here: Browsing) -> None:
    await hand.upload(sorted(LOOK))
    await hand.settle(await hand.claim("plan"), Failed("no"))
    page, other = await here.page(), await here.page()
    await page.goto("/operations")
    await other.goto("/operations")
    await other.click("#failed button")
    await expect(other.locator("#queued li.row[id]")).to_have_count(1)
    await page.click("#failed button")
    await expect(page.locator("#notice")).to_contain_text("The build is still queued")
    assert any("409" in said for said in here.said)
    here.said.clear()


async def test_a_job_is_followed_on_its_page_until_it_has_ended(hand: Hand, here: Browsing) -> None:
    await hand.upload(sorted(LOOK))
    lease = await hand.claim("plan")
    page = await here.page()
    await page.goto(f"/operations/jobs/{lease.job_id}")
    await expect(page.locator("#attempts .sign")).to_have_text("running")
    await hand.settle(lease, Failed("it broke"))
    await page.evaluate(ASK_NOW)
    await expect(page.locator("#attempts .sign")).to_have_text("failed")
    assert await page.evaluate("Number(document.getElementById('live').dataset.refreshS)") > 60
    await page.click("button:text-is('Retry')")
    await expect(page.locator(".state .sign")).to_have_text("queued")  # the job that does it again
    await expect(page).not_to_have_url(re.compile(rf"/operations/jobs/{lease.job_id}$"))
