"""`/projects/{slug}`: builds, the newest first, filtered and paged by the URL."""

import re

from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.snapshots.steadiness import Level
from tests.builds.hand import Hand
from tests.ui.facts import strange_scripts, typed_into
from tests.ui.test_snapshot import a_result, snapshot_page
from tests.ui.visitor import Page, Visitor

HOSTILE = '"><script>alert(1)</script>'


def numbers_of(page: Page) -> list[int]:
    found = (re.fullmatch(r"/projects/shop/builds/(\d+)", link) for link in page.links)
    return [int(one[1]) for one in found if one]


async def test_a_project_without_builds_says_what_to_do_next(hand: Hand, visitor: Visitor) -> None:
    page = await visitor.page("/projects/shop")
    assert "storyshelf storybook-static" in page.text
    assert "STORYSHELF_PROJECT_TOKEN" in page.text


async def test_builds_are_listed_with_what_came_out(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red", "a--two": "blue"})
    await hand.run({"a--one": "green", "a--two": "blue"}, branch="feature/x")
    page = await visitor.page("/projects/shop")
    assert numbers_of(page) == [2, 1]
    for words in ("pending", "accepted", "feature/x", "1 changed, 1 unchanged", "c0ffee"):
        assert words in page.text


async def test_the_filter_is_in_the_url_and_in_the_form(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    await hand.run({"a--one": "green"}, branch="feature/x")
    await hand.run({"a--one": "green"})
    assert numbers_of(await visitor.page("/projects/shop?branch=main&state=")) == [3, 1]
    page = await visitor.page("/projects/shop?branch=feature/x&state=pending")
    assert numbers_of(page) == [2]
    assert typed_into(page) == {"q": "", "branch": "feature/x"}
    assert [each["value"] for each in page.all("option") if "selected" in each] == ["pending"]


async def test_a_filter_that_nothing_meets_leads_back(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    page = await visitor.page("/projects/shop?branch=nowhere")
    assert "No build is like that" in page.text
    assert "/projects/shop" in page.links


async def test_pages_of_builds_meet_and_keep_the_filter(hand: Hand, visitor: Visitor) -> None:
    for _ in range(32):
        build = await hand.open(["a--one"])
        await cancel_build(hand.db, hand.kinds, build.id, Cancel("Ada", "enough"))
    first = await visitor.page("/projects/shop?state=cancelled")
    link = first.next_link()
    assert link is not None
    assert "state=cancelled" in link
    second = await visitor.page(link)
    assert numbers_of(first) + numbers_of(second) == list(range(32, 0, -1))


async def test_branch_and_message_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    await hand.open(["a--one"], branch=HOSTILE, message=f"{HOSTILE}\nmore")
    page = await visitor.page("/projects/shop")
    assert strange_scripts(page) == []
    assert page.text.count(HOSTILE) == 2
    filtered = await visitor.page(f"/projects/shop?branch={HOSTILE}")
    assert strange_scripts(filtered) == []
    assert typed_into(filtered)["branch"] == HOSTILE


async def test_a_project_that_is_not_there_is_a_page_that_says_so(visitor: Visitor) -> None:
    page = await visitor.page("/projects/nobody", status=404)
    assert "There is no such project" in page.text
    assert "nobody" in page.text


async def test_a_state_that_does_not_exist_is_refused_in_words(
    hand: Hand, visitor: Visitor
) -> None:
    page = await visitor.page("/projects/shop?state=splendid", status=422)
    assert "The request is malformed" in page.text


async def test_builds_are_found_by_message_author_and_commit(hand: Hand, visitor: Visitor) -> None:
    await hand.open(["a--one"], message="Mend the 100% button", author="Grace")
    await hand.open(["a--one"], message="Another", author="Ada")
    assert numbers_of(await visitor.page("/projects/shop?q=THE+100%25+b")) == [1]
    assert numbers_of(await visitor.page("/projects/shop?q=ada")) == [2]
    assert numbers_of(await visitor.page("/projects/shop?q=C0FF")) == [2, 1]
    assert numbers_of(await visitor.page("/projects/shop?q=0ffee")) == []


async def test_each_branch_is_shown_at_its_newest_build(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "red"})
    await hand.run({"a--one": "green"}, branch="feature/x")
    await hand.run({"a--one": "red"})
    page = await visitor.page("/projects/shop/branches")
    assert numbers_of(page) == [3, 2]
    assert "default branch" in page.text
    assert "/projects/shop?branch=feature%2Fx" in page.links
    assert "/projects/shop/branches/feature%2Fx/storybook" in page.links
    found = await visitor.page("/projects/shop/branches?q=FEAT")
    assert numbers_of(found) == [2]
    assert "No branch is called" in (await visitor.page("/projects/shop/branches?q=no")).text


async def test_branches_are_paged_and_cannot_become_markup(hand: Hand, visitor: Visitor) -> None:
    for number in range(32):
        await hand.open(["a--one"], branch=f"{HOSTILE}{number}")
    first = await visitor.page("/projects/shop/branches?q=script")
    second = await visitor.page(first.next_link() or "")
    assert numbers_of(first) + numbers_of(second) == list(range(32, 0, -1))
    assert strange_scripts(first) == []
    assert f"{HOSTILE}31" in first.text


async def test_a_project_without_branches_says_what_to_do_next(
    hand: Hand, visitor: Visitor
) -> None:
    assert "storyshelf storybook-static" in (await visitor.page("/projects/shop/branches")).text


async def test_stories_that_do_not_always_hold_still_are_named(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run({"a--one": "red"})
    assert "hold still" not in (await visitor.page("/projects/shop")).text
    await a_result(hand, {"a--one": "red"}, level=Level.NEVER)
    text = (await visitor.page("/projects/shop")).text
    assert "--repeat 10 shows it on your machine" in text
    assert "a--one · default 100% moved to the end 1 time, in 1 capture" in text
    page = await snapshot_page(visitor, 2, "unchanged")
    assert "Flake score 100% of 1 capture" in page.text
