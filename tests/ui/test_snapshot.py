"""`/projects/{slug}/builds/{number}/snapshots/{id}`: both pictures, and all that explains them."""

from dataclasses import replace
from typing import Any

import httpx

from storyshelf.auth.permissions import Role
from storyshelf.builds import record_results
from storyshelf.builds.jobs import parse_capture
from storyshelf.db.engine import Database
from storyshelf.diff.cover import Region
from storyshelf.queue.job import Completed
from storyshelf.review.decide import decide_all
from storyshelf.review.strip import ORDER
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import (
    CaptureError,
    ConsoleLine,
    Diff,
    Notice,
    Picture,
    PlannedSnapshot,
    SnapshotResult,
    StoredMask,
    Verdict,
)
from storyshelf.ui.view_models.filmstrip import EACH_SIDE
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, SIZE_PX, Hand, Look, png_of
from tests.people import ADA, sign_in
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


async def run_ignoring(hand: Hand, look: Look, *ignored: Region) -> PlannedSnapshot:
    """Take a build of one story to its verdict; return what its shard was told of it."""
    build = await hand.upload(sorted(look))
    await hand.plan(build, sorted(look))
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    (planned,) = work.snapshots
    await hand.record(lease, work, [replace(await hand.shot(planned, look), ignored=ignored)])
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    await hand.finalise(build)
    return planned


async def a_picture(hand: Hand, shown: str) -> Picture:
    png = png_of(shown)
    return Picture(await hand.blobs.put(png), len(png), *SIZE_PX)


async def snapshot_page(visitor: Visitor, number: int, verdict: str) -> Page:
    listed = await visitor.page(f"{BUILD}/{number}?verdict={verdict}")
    first = next(link for link in listed.links if "/snapshots/" in link)
    return await visitor.page(first.partition("?")[0])


def pictures(page: Page, pane: str) -> list[str | None]:
    """Return the pictures in the pane of the baseline, or of the new one."""
    html = page.answer.text.partition(f'class="pane pane-{pane}"')[2].partition("</figure>")[0]
    return [each["href"] for each in Page(httpx.Response(200, text=html)).all("image")]


async def test_both_pictures_stand_side_by_side(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    page = await snapshot_page(visitor, 2, "changed")
    (before,) = pictures(page, "baseline")
    after, below = pictures(page, "new")  # the other one lies below it, for the views with one pane
    assert before == below != after
    assert [each["aria-label"] for each in page.all("svg") if "aria-label" in each] == [
        "a--two, a--two: the baseline, from build 1",
        "a--two, a--two: as it is in this build",
    ]
    for link in (before, after):
        picture = await visitor.client.get(str(link))
        assert picture.headers["content-type"] == "image/png"


async def test_what_changed_is_drawn_at_its_place(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    key = await hand.blobs.put(png_of("a mask"))
    await a_result(hand, {"a--one": "blue"}, mask=StoredMask(key, 9))
    page = await snapshot_page(visitor, 2, "changed")
    (mask,) = (each for each in page.all("image") if each.get("class") == "mask")
    assert (mask["href"], mask["x"], mask["y"]) == (f"/projects/shop/images/{key}", "1", "2")
    (region,) = (each for each in page.all("rect") if each.get("class") == "region-line")
    assert [region[name] for name in ("x", "y", "width", "height")] == ["1", "2", "3", "4"]
    assert {"show-mask", "show-regions"} < set(page.ids)


async def test_what_either_picture_has_ignored_is_hatched(hand: Hand, visitor: Visitor) -> None:
    await run_ignoring(hand, {"a--one": "red"}, (1, 2, 3, 4), (5, 5, 2, 2))
    planned = await run_ignoring(hand, {"a--one": "blue"}, (1, 2, 3, 4))
    assert planned.baseline_ignored == ((1, 2, 3, 4), (5, 5, 2, 2))
    page = await snapshot_page(visitor, 2, "changed")
    hatched = [each for each in page.all("rect") if each.get("class") == "ignored"]
    assert [(each["x"], each["width"]) for each in hatched] == [("1", "3"), ("5", "2")]
    assert "show-ignored" in page.ids


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
        "Accepted by rule: first build",
        "commit c0ffee",
        "1: attempt 1 completed",
        "by hand",
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


async def test_warnings_are_told_in_words(hand: Hand, visitor: Visitor) -> None:
    warnings = (
        Notice("unsettled", "the page was still changing after 10 s"),
        Notice("viewports", f"{HOSTILE} is no viewport"),
    )
    await a_result(hand, {"a--one": "red"}, warnings=warnings)
    page = await snapshot_page(visitor, 1, "added")
    assert "The story was not at rest when its picture was taken." in page.text
    assert "the page was still changing after 10 s" in page.text
    assert f"Viewports. {HOSTILE} is no viewport" in page.text


async def test_what_a_mode_changes_is_said(hand: Hand, visitor: Visitor) -> None:
    modes = {"night": {"viewport": 320, "colorScheme": "dark", "timeZone": "Asia/Tokyo"}}
    build = await hand.upload(["a--one"])
    await hand.plan(build, ["a--one"], {"a--one": {"modes": modes}})
    await hand.capture(build, {"a--one": "red"})
    text = (await snapshot_page(visitor, 1, "added")).text
    assert "Colour scheme dark" in text
    assert "Time zone Asia/Tokyo" in text
    assert "Reduced motion" not in text


async def test_requests_that_failed_are_listed_with_their_reasons(
    hand: Hand, visitor: Visitor
) -> None:
    warnings = (
        Notice("resource_failed", f"404: assets/{HOSTILE}.png"),
        Notice("resource_failed", "net::ERR_FAILED: a.css"),
        Notice("blocked_request", "https://fonts.test/a.woff2"),
    )
    await a_result(hand, {"a--one": "red"}, warnings=warnings)
    page = await snapshot_page(visitor, 1, "added")
    assert f"assets/{HOSTILE}.png status 404" in page.text
    assert "a.css net::ERR_FAILED" in page.text
    assert "https://fonts.test/a.woff2 outside of the Storybook: not allowed" in page.text
    assert "warnings" not in page.ids


async def test_the_console_is_shown_line_by_line(hand: Hand, visitor: Visitor) -> None:
    lines = (ConsoleLine("error", f"{HOSTILE} is not a function"), ConsoleLine("log", "ready"))
    await a_result(hand, {"a--one": "red"}, console=lines)
    page = await snapshot_page(visitor, 1, "added")
    assert f"error {HOSTILE} is not a function log ready" in page.text


async def test_timings_stand_in_the_order_of_the_steps_and_fill_the_bar(
    hand: Hand, visitor: Visitor
) -> None:
    taken = {"open": 40, "shoot": 30, "extra": 10, "store": 10, "render": 20, "first_picture": 90}
    await a_result(hand, {"a--one": "red"}, timings_ms=taken)
    page = await snapshot_page(visitor, 1, "added")
    assert (
        "first picture 90 ms open 40 ms render 20 ms shoot 30 ms store 10 ms extra 10 ms"
        in page.text
    )
    steps = [each for each in page.all("rect") if "step" in str(each.get("class"))][:6]
    assert [each["x"] for each in steps] == ["0.0", "45.0", "65.0", "75.0", "90.0", "95.0"]
    assert [each["width"] for each in steps] == ["45.0", "20.0", "10.0", "15.0", "5.0", "5.0"]


async def test_the_story_is_a_link_into_the_published_storybook(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run({"a--one": "red", "a--two": "red"})
    await hand.run({"a--one": "blue"})
    page = await snapshot_page(visitor, 2, "changed")
    (link,) = (each for each in page.all("a") if each.get("target") == "_blank")
    assert link["href"] == f"{BUILD}/2/storybook?path=%2Fstory%2Fa--one"
    assert link["rel"] == "noopener"
    removed = await snapshot_page(visitor, 2, "removed")
    assert not any("/storybook" in each for each in removed.links)


async def test_what_waits_is_decided_by_a_form_and_says_the_command_too(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--two": "violet"})
    waiting = await snapshot_page(visitor, 2, "changed")
    named = waiting.answer.url.path.rsplit("/", 1)[-1]
    assert sent_by(waiting) == [("accepted", f"{named}:none"), ("denied", f"{named}:none")]
    assert "1 to decide" in waiting.text
    for word in ("accept", "deny"):
        assert f"storyshelf {word} 2 {named}" in waiting.text
    await decide_all(hand.db, build.id, Decision.DENIED, ADA)
    decided = await snapshot_page(visitor, 2, "changed")
    assert sent_by(decided) == [("accepted", f"{named}:denied"), ("none", f"{named}:denied")]
    assert f"storyshelf undo 2 {named}" in decided.text
    assert f"by {ADA.email}" in decided.text
    assert sent_by(await snapshot_page(visitor, 2, "unchanged")) == []


def sent_by(page: Page) -> list[tuple[str | None, str | None]]:
    """Return what the buttons decide, with the snapshot and the decision that was seen on it."""
    seen = [each["value"] for each in page.all("input") if each.get("name") == "snapshot"]
    buttons = [each["value"] for each in page.all("button") if each.get("name") == "decision"]
    return [(button, seen[0]) for button in buttons]


async def test_who_may_only_look_is_shown_no_form(
    hand: Hand, visitor: Visitor, db: Database
) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    roles = {hand.project.id: Role.VIEWER}
    await sign_in(db, visitor.client, "cleo@shelf.test", roles=roles)
    page = await snapshot_page(visitor, 2, "changed")
    assert "undecided" in page.text
    assert sent_by(page) == []


async def test_an_unstable_story_shows_the_pictures_it_gave(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    frames = tuple([await a_picture(hand, shown) for shown in ("grey", "black")])
    moving = Diff(9, 9, (), "yiq-7", "numpy", "1", (9, 9), (9, 9), moving=((1, 2, 3, 4),))
    await a_result(hand, {"a--one": "blue"}, verdict=Verdict.UNSTABLE, frames=frames, diff=moving)
    page = await snapshot_page(visitor, 2, "unstable")
    assert "it gave 2 different pictures" in page.text
    assert "Moves in 1 place" in page.text
    assert [each["x"] for each in page.all("rect") if each.get("class") == "moving"] == ["1"]
    shown = [each["src"] for each in page.all("img") if each.get("alt")]
    assert shown == [f"/projects/shop/images/{frame.key}" for frame in frames]


async def test_the_next_in_the_order_of_review_is_one_link_away(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    await hand.run({"a--two": "violet", "b--one": "blue", "c--one": "new"})
    page = await snapshot_page(visitor, 2, "changed")
    ways: list[tuple[str | None, str]] = [(None, "changed")]
    while link := page.next_link():
        page = await visitor.page(link)
        back = next(each["href"] for each in page.all("a") if each.get("rel") == "prev")
        ways.append((back, next(each for each in ORDER if each in heading_of(page).split())))
    assert [verdict for _, verdict in ways] == ["changed", "added", "removed", "unchanged"]
    assert len({back for back, _ in ways}) == 4


def heading_of(page: Page) -> str:
    html = page.answer.text.partition('class="review-state"')[2].partition("</p>")[0]
    return Page(httpx.Response(200, text=f"<p {html}")).text


async def test_the_strip_shows_a_window_of_a_large_build(hand: Hand, visitor: Visitor) -> None:
    look = {f"a--{number:03}": "red" for number in range(2 * EACH_SIDE + 20)}
    await hand.run(look)
    page = await snapshot_page(visitor, 1, "added")
    for _ in range(EACH_SIDE + 5):
        page = await visitor.page(page.next_link() or "")
    shots = [each for each in page.all("a") if each.get("class") == "shot"]
    assert len(shots) == 2 * EACH_SIDE + 1
    assert [each["href"] for each in shots if "aria-current" in each] == [page.answer.url.path]
    ends = [each["href"] for each in page.all("a") if each.get("class") == "shots-more"]
    assert ends == [shots[0]["href"], shots[-1]["href"]]


async def test_every_link_keeps_what_was_chosen(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run({"a--one": "1", "a--two": "2", "b--one": "3"})
    chosen = "?verdict=changed&decision=undecided&q=a--"
    first = (await snapshot_page(visitor, 2, "changed")).answer.url.path
    page = await visitor.page(f"{first}{chosen}")
    shots = [each for each in page.all("a") if each.get("class") == "shot"]
    assert len(shots) == 2
    assert all(str(each["href"]).endswith(chosen) for each in shots)
    assert str(page.next_link()).endswith(chosen)
    thens = [each["value"] for each in page.all("input") if each.get("name") == "then"]
    assert thens == [f"next{chosen}", f"{first}{chosen}"]  # of a decision, and of a trace
    assert f"{BUILD}/2{chosen}" in page.links


async def test_a_removed_story_has_only_its_baseline(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run({"a--one": "red"})
    page = await snapshot_page(visitor, 2, "removed")
    assert (len(pictures(page, "baseline")), len(pictures(page, "new"))) == (1, 0)
    assert "There is no picture of it in this build." in page.text


async def test_a_snapshot_of_another_build_is_not_found_here(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK)
    page = await snapshot_page(visitor, 1, "added")
    moved = page.answer.url.path.replace("/builds/1/", "/builds/2/")
    assert "There is no such snapshot" in (await visitor.page(moved, status=404)).text
