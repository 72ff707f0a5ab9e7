"""`/projects/{slug}/builds/{number}/delete`: a build that no other one needs is deleted."""

from storyshelf.auth.permissions import Role
from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from tests.builds.facts import read
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.facts import audited
from tests.ui.visitor import Visitor

RED = {"a--one": "red", "b--two": "red"}
BLUE = {**RED, "a--one": "blue"}
BUILD = "/projects/shop/builds/1"
DELETE = f"{BUILD}/delete"


async def numbers(hand: Hand) -> list[int]:
    return [row["number"] for row in await read(hand, "SELECT number FROM builds ORDER BY number")]


async def test_the_build_leads_to_the_page_that_asks(hand: Hand, visitor: Visitor) -> None:
    await hand.run(RED)
    assert DELETE in (await visitor.page(BUILD)).links
    page = await visitor.page(DELETE)
    assert "snapshots, decisions and published Storybook go with it" in page.text
    assert await numbers(hand) == [1]


async def test_a_yes_deletes_it(hand: Hand, visitor: Visitor) -> None:
    await hand.run(RED)
    answer = await visitor.client.post(DELETE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/projects/shop")
    assert await numbers(hand) == []
    assert [actor for actor, _ in await audited(hand.db, "build.delete")] == ["ada@shelf.test"]
    await visitor.page(BUILD, status=404)


async def test_a_build_under_way_is_ended_first(hand: Hand, visitor: Visitor) -> None:
    await hand.upload(sorted(RED))
    assert "What runs of it is cancelled" in (await visitor.page(DELETE)).text
    assert (await visitor.client.post(DELETE)).status_code == 303
    assert await numbers(hand) == []


async def test_what_others_need_is_kept_and_they_are_named(hand: Hand, visitor: Visitor) -> None:
    await hand.run(RED)
    await hand.run(BLUE)
    page = await visitor.page(DELETE)
    assert "/projects/shop/builds/2" in page.links
    assert "Delete the build</button>" not in page.text
    answer = await visitor.client.post(DELETE)
    assert answer.status_code == 409
    assert "other builds are compared with it: 2" in answer.text
    assert await numbers(hand) == [1, 2]


async def test_what_was_compared_with_it_still_says_so(hand: Hand, visitor: Visitor) -> None:
    await hand.run(RED)
    assert (await hand.run(RED)).state is BuildState.PASSED
    await visitor.client.post(DELETE)
    page = await visitor.page("/projects/shop/builds/2")
    assert "build 1, which was deleted" in page.text


async def test_only_admins_may(hand: Hand, db: Database, visitor: Visitor) -> None:
    await hand.run(RED)
    await sign_in(db, visitor.client, "ben@shelf.test", roles={hand.project.id: Role.REVIEWER})
    assert DELETE not in (await visitor.page(BUILD)).links
    await visitor.page(DELETE, status=403)
    assert (await visitor.client.post(DELETE)).status_code == 403
    assert await numbers(hand) == [1]
