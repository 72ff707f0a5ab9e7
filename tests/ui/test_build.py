"""`/projects/{slug}/builds/{number}`: where a build stands, why, and its snapshots by verdict."""

from sqlalchemy import event

from storyshelf.builds import intake
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.db.engine import Database
from tests.builds.hand import Hand
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds"
LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue", "b--two": "grey"}
HOSTILE = '"><script>alert(1)</script>'


def groups_of(page: Page) -> list[str]:
    return [each.removeprefix("group-") for each in page.ids if each.startswith("group-")]


async def a_build_with_everything(hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.run({"a--one": "red", "a--two": "violet", "b--one": "!", "c--new": "white"})


async def statements_of(db: Database, visitor: Visitor, link: str) -> int:
    seen: list[str] = []

    def note(*told: object) -> None:
        seen.append(str(told[2]))

    event.listen(db.engine.sync_engine, "before_cursor_execute", note)
    await visitor.page(link)
    event.remove(db.engine.sync_engine, "before_cursor_execute", note)
    return len(seen)


async def test_the_state_has_its_reason_in_a_sentence(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    await hand.run(LOOK | {"a--two": "!"})
    assert "by the rule “first build”" in (await visitor.page(f"{BUILD}/1")).text
    assert "1 snapshot waits for a decision." in (await visitor.page(f"{BUILD}/2")).text
    broken = await visitor.page(f"{BUILD}/3")
    assert "Broken: 1 of its stories could not be rendered." in broken.text


async def test_a_build_with_something_to_decide_says_how(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    assert "storyshelf accept" not in (await visitor.page(f"{BUILD}/1")).text
    assert "storyshelf accept 2 --all" in (await visitor.page(f"{BUILD}/2")).text


async def test_a_cancelled_build_says_who_cancelled_it(hand: Hand, visitor: Visitor) -> None:
    build = await hand.open(["a--one"])
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("Ada", "cancelled by Ada"))
    assert "Cancelled: cancelled by Ada." in (await visitor.page(f"{BUILD}/1")).text


async def test_a_build_of_a_pull_request_names_it(hand: Hand, visitor: Visitor) -> None:
    await hand.open(["a--one"], branch="new-badge", pull_request=42)
    await hand.open(["a--one"])
    asked, pushed = [(await visitor.page(f"{BUILD}/{number}")).text for number in (1, 2)]
    assert "Pull request 42" in asked
    assert "Pull request" not in pushed


async def test_a_build_names_its_origin_and_what_it_is_compared_with(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    build = await hand.open(sorted(LOOK), "main", "Softer buttons\n\nAs agreed.", "Ben")
    await hand.send(build, sorted(LOOK))
    await intake.seal(hand.db, hand.blobs, build)
    await hand.plan(build, sorted(LOOK))
    page = await visitor.page(f"{BUILD}/2")
    for words in ("Softer buttons", "As agreed.", "Ben", "main", "c0ffee", "test"):
        assert words in page.text
    assert f"{BUILD}/1" in page.links


async def test_snapshots_are_grouped_by_verdict_what_needs_a_person_first(
    hand: Hand, visitor: Visitor
) -> None:
    await a_build_with_everything(hand)
    page = await visitor.page(f"{BUILD}/2")
    assert groups_of(page) == ["changed", "added", "removed", "errored", "unchanged"]
    assert "boom" in page.text


async def test_a_changed_snapshot_is_a_card_with_both_pictures(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    before, after = (await visitor.page(f"{BUILD}/2")).all("img")
    for image in (before, after):
        assert image["loading"] == "lazy"
        assert (image["width"], image["height"]) == ("12", "8")
        assert str(image["src"]).startswith("/projects/shop/thumbnails/")
    assert before["src"] != after["src"]
    assert "baseline, from build 1" in str(before["alt"])


async def test_one_verdict_alone_is_a_link_of_its_own(hand: Hand, visitor: Visitor) -> None:
    await a_build_with_everything(hand)
    page = await visitor.page(f"{BUILD}/2?verdict=removed")
    assert groups_of(page) == ["removed"]
    assert f"{BUILD}/2?verdict=changed" in page.links
    nothing = await visitor.page(f"{BUILD}/2?verdict=skipped")
    assert "No snapshot is like that" in nothing.text


async def test_a_large_group_shows_its_first_and_leads_to_the_rest(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run({f"a--{number:03}": "red" for number in range(130)})
    seen: list[str] = []
    page = await visitor.page(f"{BUILD}/1")
    assert sum("/snapshots/" in link for link in page.links) == 60
    link = f"{BUILD}/1?verdict=added"
    assert page.links.count(link) == 2  # in the overview, and below the group
    assert "More of 130 added snapshots" in page.text
    while link:
        page = await visitor.page(link)
        seen += [each for each in page.links if "/snapshots/" in each]
        link = next((each for each in page.links if "after=" in each), "")
    assert len(seen) == len(set(seen)) == 130


async def test_shards_are_listed_with_the_tries_at_them(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    page = await visitor.page(f"{BUILD}/1")
    assert "4 snapshots" in page.text
    assert "Attempt 1: completed" in page.text
    assert "by hand" in page.text


async def test_hostile_texts_are_only_texts(hand: Hand, visitor: Visitor) -> None:
    build = await hand.open([HOSTILE], HOSTILE, f"{HOSTILE}\n{HOSTILE}", HOSTILE)
    await hand.send(build, [HOSTILE])
    await intake.seal(hand.db, hand.blobs, build)
    await hand.plan(build, [HOSTILE])
    page = await visitor.page(f"{BUILD}/1")
    assert all((each["src"] or "").startswith("/static/") for each in page.all("script"))
    assert page.text.count(HOSTILE) == 6
    assert "unsafe-inline" not in page.answer.headers["content-security-policy"]


async def test_a_page_takes_as_many_statements_for_50_snapshots_as_for_5(
    hand: Hand, visitor: Visitor
) -> None:
    for stories in (5, 50):
        await hand.run({f"a--{number:02}": str(stories) for number in range(stories)})
    few = await statements_of(hand.db, visitor, f"{BUILD}/1")
    many = await statements_of(hand.db, visitor, f"{BUILD}/2")
    assert few == many
    assert many <= 14


async def test_a_build_that_is_not_there_is_a_page_that_says_so(
    hand: Hand, visitor: Visitor
) -> None:
    page = await visitor.page(f"{BUILD}/7", status=404)
    assert "There is no such build" in page.text
    await visitor.page(f"{BUILD}/99999999999999999999", status=422)
