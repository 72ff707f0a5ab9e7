"""`/projects/{slug}/builds/{number}/live`: what moves on the page while a build does."""

from dataclasses import replace

from storyshelf.builds import record_results
from storyshelf.builds.build import Build
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.plan_again import plan_elsewhere
from storyshelf.builds.sample_progress import sample_progress
from storyshelf.queue.job import Completed, Ending, Requeued
from tests.builds.facts import age_jobs
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand
from tests.builds.test_plan_again import NEWER, a_consumer, come
from tests.ui.visitor import Visitor

BUILD = "/projects/shop/builds/1"
LOOK = {f"a--{number}": "red" for number in range(8)}


async def a_build_half_done(hand: Hand, ending: Ending | None = None) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    lease = await hand.claim(f"capture@{ENVIRONMENT}")
    async with hand.db.transaction() as tx:
        work = await record_results.read_work(tx, parse_capture(lease.payload))
    for snapshot in work.snapshots[:4]:
        await hand.record(lease, work, [await hand.shot(snapshot, LOOK)])
    await sample_progress(hand.db)
    if ending is not None:
        await hand.settle(lease, ending)
    return build


async def test_a_build_under_way_shows_how_far_it_is(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand)
    for link in (BUILD, f"{BUILD}/live"):
        page = await visitor.page(link)
        assert page.all("progress")[0].items() >= {"value": "4", "max": "8"}.items()
        assert "4 of 8 captured" in page.text
        assert "left" in page.text
        assert "a second" in page.text or "a minute" in page.text
        assert "reckoned just now" in page.text


async def test_a_pace_that_nobody_has_reckoned_yet_is_not_shown(
    hand: Hand, visitor: Visitor
) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    page = await visitor.page(BUILD)
    assert "0 of 8 captured" in page.text
    assert "reckoned" not in page.text


async def test_no_time_is_left_where_nobody_captures(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand, Requeued("given back"))
    page = await visitor.page(BUILD)
    assert "No consumer has the browser" in page.text
    assert "4 of 8 captured" in page.text
    assert " left" not in page.text
    assert "reckoned" not in page.text


async def test_a_build_that_nobody_can_plan_says_so_until_somebody_can(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.upload(sorted(LOOK))
    await age_jobs(hand)
    assert "No consumer takes plan jobs." in (await visitor.page(BUILD)).text
    await come(hand.db, a_consumer(ENVIRONMENT))
    assert "No consumer takes" not in (await visitor.page(BUILD)).text


async def test_a_build_whose_browser_is_gone_says_so_and_then_why_it_was_planned_again(
    hand: Hand, visitor: Visitor
) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await come(hand.db, a_consumer(NEWER))
    said = (await visitor.page(BUILD)).text
    assert "No consumer has the browser this build is captured in: (test)." in said
    assert "chromium of newer (newer)" in said
    await plan_elsewhere(hand.db, hand.kinds, CAPTURE_LANE)
    page = await visitor.page(BUILD)
    assert "No consumer has (test) any more, there is chromium of newer (newer)." in page.text


async def test_a_build_shows_what_is_odd_about_its_bundle(hand: Hand, visitor: Visitor) -> None:
    build = await hand.upload(sorted(LOOK))
    lease = await hand.claim("plan")
    odd = "A file did not load: ./<b>.js: no"
    plan = replace(await hand.planned(build, sorted(LOOK)), warnings=(odd,))
    await hand.settle(lease, Completed(plan))
    assert odd in (await visitor.page(BUILD)).text
    assert "Warnings" not in (await visitor.page("/projects/shop")).text


async def test_the_page_says_where_to_look_again_and_when(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand)
    page = await visitor.page(f"{BUILD}?verdict=planned")
    live = page.by_id("live")
    assert live["hx-get"] == f"{BUILD}/live?verdict=planned"
    assert 2 <= int(live["data-refresh-s"] or 0) <= 10
    assert page.all("noscript")
    refresh = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    assert refresh == [live["data-refresh-s"]]


async def test_the_live_part_is_no_page_of_its_own(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand)
    fragment = await visitor.page(f"{BUILD}/live")
    assert not fragment.all("html")
    assert not fragment.all("script")
    whole = await visitor.page(BUILD)
    assert set(fragment.ids) <= set(whole.ids)


async def test_an_ended_build_is_asked_again_since_people_decide(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK)
    decided = await visitor.page(BUILD)
    assert decided.by_id("live")["data-refresh-s"] == "4"
    passed = await visitor.page("/projects/shop/builds/2")
    assert passed.by_id("live")["data-refresh-s"] == "30"
    for page in (decided, passed):
        assert not [each for each in page.all("meta") if "http-equiv" in each]
        assert not page.all("progress")


async def test_what_waits_for_a_consumer_is_asked_again_too(hand: Hand, visitor: Visitor) -> None:
    await hand.upload(sorted(LOOK))
    page = await visitor.page(BUILD)
    assert "It waits for a consumer to plan it." in page.text
    assert page.by_id("live")["data-refresh-s"] == "3"
