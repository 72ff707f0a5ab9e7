"""`/projects/{slug}/builds/{number}/live`: what moves on the page while a build does."""

from storyshelf.builds import record_results
from storyshelf.builds.build import Build
from storyshelf.builds.jobs import parse_capture
from tests.builds.hand import ENVIRONMENT, Hand
from tests.ui.visitor import Visitor

BUILD = "/projects/shop/builds/1"
LOOK = {f"a--{number}": "red" for number in range(8)}


async def a_build_half_done(hand: Hand) -> Build:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    lease = await hand.claim(f"capture@{ENVIRONMENT}")
    async with hand.db.transaction() as tx:
        work = await record_results.read_work(tx, parse_capture(lease.payload))
    for snapshot in work.snapshots[:4]:
        await hand.record(lease, work, [await hand.shot(snapshot, LOOK)])
    return build


async def test_a_build_under_way_shows_how_far_it_is(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand)
    for link in (BUILD, f"{BUILD}/live"):
        page = await visitor.page(link)
        assert page.all("progress")[0].items() >= {"value": "4", "max": "8"}.items()
        assert "4 of 8 captured" in page.text
        assert "left" in page.text
        assert "a second" in page.text or "a minute" in page.text


async def test_the_page_says_where_to_look_again_and_when(hand: Hand, visitor: Visitor) -> None:
    await a_build_half_done(hand)
    page = await visitor.page(f"{BUILD}?verdict=planned")
    live = page.by_id("live")
    assert live["data-link"] == f"{BUILD}/live?verdict=planned"
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


async def test_an_ended_build_is_not_asked_again(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    page = await visitor.page(BUILD)
    assert "data-refresh-s" not in page.by_id("live")
    assert not page.all("noscript")
    assert not page.all("progress")


async def test_what_waits_for_a_consumer_is_asked_again_too(hand: Hand, visitor: Visitor) -> None:
    await hand.upload(sorted(LOOK))
    page = await visitor.page(BUILD)
    assert "It waits for a consumer to plan it." in page.text
    assert page.by_id("live")["data-refresh-s"] == "3"
