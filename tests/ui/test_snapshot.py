"""`/projects/{slug}/builds/{number}/snapshots/{id}`: both pictures, and all that explains them."""

from dataclasses import replace
from typing import Any

from storyshelf.builds import record_results
from storyshelf.builds.jobs import parse_capture
from storyshelf.review.decide import decide_all
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import (
    CaptureError,
    Notice,
    Picture,
    PlannedSnapshot,
    SnapshotResult,
    StoredMask,
    Verdict,
)
from tests.builds.hand import ENVIRONMENT, SIZE_PX, Hand, Look, png_of
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds"
LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}
HOSTILE = '"><script>alert(1)</script>'


async def a_result(hand: Hand, look: Look, **changes: Any) -> SnapshotResult:
    """Upload and plan a build of one story, and record what it came to."""
    build = await hand.upload(sorted(look))
    await hand.plan(build, sorted(look))
    lease = await hand.claim(f"capture@{ENVIRONMENT}")
    async with hand.db.transaction() as tx:
        work = await record_results.read_work(tx, parse_capture(lease.payload))
    planned: PlannedSnapshot
    (planned,) = work.snapshots
    result = replace(await hand.shot(planned, look), **changes)
    await hand.record(lease, work, [result])
    return result


async def a_picture(hand: Hand, shown: str) -> Picture:
    png = png_of(shown)
    return Picture(await hand.blobs.put(png), len(png), *SIZE_PX)


async def snapshot_page(visitor: Visitor, number: int, verdict: str) -> Page:
    listed = await visitor.page(f"{BUILD}/{number}?verdict={verdict}")
    first = next(link for link in listed.links if "/snapshots/" in link)
    return await visitor.page(first)


async def test_both_pictures_stand_side_by_side(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    page = await snapshot_page(visitor, 2, "changed")
    before, after = page.all("image")
    assert before["href"] != after["href"]
    assert [each["aria-label"] for each in page.all("svg") if "aria-label" in each] == [
        "a--two, a--two: the baseline, from build 1",
        "a--two, a--two: as it is in this build",
    ]
    for link in (before["href"], after["href"]):
        picture = await visitor.client.get(str(link))
        assert picture.headers["content-type"] == "image/png"


async def test_what_changed_is_drawn_at_its_place(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    key = await hand.blobs.put(png_of("a mask"))
    await a_result(hand, {"a--one": "blue"}, mask=StoredMask(key, 9))
    page = await snapshot_page(visitor, 2, "changed")
    (mask,) = (each for each in page.all("image") if each.get("class") == "mask")
    assert (mask["href"], mask["x"], mask["y"]) == (f"/projects/shop/images/{key}", "1", "2")
    (region,) = page.all("rect")
    assert [region[name] for name in ("x", "y", "width", "height")] == ["1", "2", "3", "4"]
    assert {each["id"] for each in page.all("input")} == {"show-mask", "show-regions"}


async def test_the_verdict_is_explained(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    page = await snapshot_page(visitor, 2, "changed")
    for words in (
        "by hand",
        "build 1, the latest planned build on main",
        "undecided",
        "3 pixels",
        "yiq-7, numpy 1",
        "720 px, scale 1",
        "chromium",
        "./a.js",
        "100 ms",
    ):
        assert words in page.text
    assert f"{BUILD}/1" in page.links


async def test_an_error_is_shown_with_its_message_and_stack(hand: Hand, visitor: Visitor) -> None:
    error = CaptureError("play_failed", f"{HOSTILE} is not a function", f"at {HOSTILE}:3")
    await a_result(hand, {"a--one": "!"}, error=error)
    page = await snapshot_page(visitor, 1, "errored")
    assert "play_failed" in page.text
    assert f"{HOSTILE} is not a function" in page.text
    assert f"at {HOSTILE}:3" in page.text
    assert len(page.all("script")) == 1


async def test_warnings_and_timings_are_shown(hand: Hand, visitor: Visitor) -> None:
    warnings = (Notice("failed_request", f"GET {HOSTILE} was refused"),)
    await a_result(hand, {"a--one": "red"}, warnings=warnings, timings_ms={"load_ms": 1500.0})
    page = await snapshot_page(visitor, 1, "added")
    assert f"GET {HOSTILE} was refused" in page.text
    assert "load 1.5 s" in page.text


async def test_timings_stand_in_the_order_of_the_steps(hand: Hand, visitor: Visitor) -> None:
    taken = {"open": 40, "shoot": 30, "extra": 9, "store": 10, "render": 20, "first_picture": 50}
    await a_result(hand, {"a--one": "red"}, timings_ms=taken)
    page = await snapshot_page(visitor, 1, "added")
    names = ["first picture", "open", "render", "shoot", "store", "extra"]
    places = [page.text.index(f"{name} ", page.text.index("Timings")) for name in names]
    assert places == sorted(places)


async def test_what_waits_says_how_it_is_decided_and_what_is_decided_how_that_is_undone(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--two": "violet"})
    waiting = await snapshot_page(visitor, 2, "changed")
    named = waiting.answer.url.path.rsplit("/", 1)[-1]
    assert f"storyshelf accept 2 {named} or storyshelf deny 2 {named}" in waiting.text
    await decide_all(hand.db, build.id, Decision.DENIED, "Ada")
    decided = await snapshot_page(visitor, 2, "changed")
    assert f"storyshelf undo 2 {named}" in decided.text
    assert "storyshelf accept" not in decided.text
    for number, verdict in ((1, "added"), (2, "unchanged")):
        page = await snapshot_page(visitor, number, verdict)
        assert not any(f"storyshelf {word}" in page.text for word in ("accept", "deny", "undo"))


async def test_an_unstable_story_shows_the_pictures_it_gave(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    frames = tuple([await a_picture(hand, shown) for shown in ("grey", "black")])
    await a_result(hand, {"a--one": "blue"}, verdict=Verdict.UNSTABLE, frames=frames)
    page = await snapshot_page(visitor, 2, "unstable")
    assert [each["src"] for each in page.all("img")] == [
        f"/projects/shop/images/{frame.key}" for frame in frames
    ]


async def test_the_next_of_the_same_verdict_is_one_link_away(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    page = await snapshot_page(visitor, 1, "added")
    seen = [str(page.answer.url.path)]
    while link := page.next_link():
        page = await visitor.page(link)
        seen.append(link)
    assert len(seen) == 3
    assert [each["href"] for each in page.all("a") if each.get("rel") == "prev"] == [seen[1]]


async def test_a_removed_story_has_only_its_baseline(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run({"a--one": "red"})
    page = await snapshot_page(visitor, 2, "removed")
    assert len(page.all("image")) == 1
    assert "There is no picture of it in this build." in page.text


async def test_a_snapshot_of_another_build_is_not_found_here(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK)
    page = await snapshot_page(visitor, 1, "added")
    moved = page.answer.url.path.replace("/builds/1/", "/builds/2/")
    assert "There is no such snapshot" in (await visitor.page(moved, status=404)).text
