"""The cards of a build's page: what a glance at one says, and what can be done on it."""

from storyshelf.review.decide import Seen, decide
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand
from tests.people import ADA
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds/2"
LOOK = {"a--one": "red", "b--one": "blue"}


def acts_of(page: Page) -> list[str]:
    """What the buttons of cards would decide, in their order."""
    buttons = [each for each in page.all("button") if str(each.get("id")).startswith("act-")]
    return [str(each["value"]) for each in buttons]


async def test_what_changed_is_outlined_on_the_new_picture(hand: Hand, visitor: Visitor) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--one": "pink"})
    page = await visitor.page(f"{BUILD}?verdict=changed")
    (box,) = page.all("rect")
    assert (box["x"], box["y"], box["width"], box["height"]) == ("1", "2", "3", "4")
    assert [each["viewbox"] for each in page.all("svg") if "width" in each] == ["0 0 12 8"]
    assert "pixels changed" in page.text


async def test_in_the_place_of_what_was_decided_stands_its_undoing(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--one": "pink"})
    rows = await snapshots_of(hand, build)
    for seen, decision, offered in (
        (Decision.NONE, Decision.ACCEPTED, ["none", "denied"]),
        (Decision.ACCEPTED, Decision.DENIED, ["accepted", "none"]),
        (Decision.DENIED, Decision.NONE, ["accepted", "denied"]),
    ):
        await decide(hand.db, build.id, [Seen(rows["a--one"]["id"], seen)], decision, ADA)
        assert acts_of(await visitor.page(BUILD)) == offered


async def test_of_an_errored_one_there_is_nothing_to_decide(hand: Hand, visitor: Visitor) -> None:
    await hand.run({"a--one": "!"})
    page = await visitor.page("/projects/shop/builds/1")
    assert acts_of(page) == []
    assert not [each for each in page.all("input") if each.get("type") == "checkbox"]
    assert "boom" in page.text


async def test_the_visitors_last_decision_can_be_undone_where_it_still_stands(
    hand: Hand, visitor: Visitor
) -> None:
    await hand.run(LOOK)
    await hand.run({"a--one": "pink", "b--one": "cyan"})
    data = {"decision": "denied", "all": "1"}
    await visitor.client.post(f"{BUILD}/decisions", data=data)
    page = await visitor.page(BUILD)
    assert "Undo: 2 denied just now" in page.text
    taken = next(each["value"] for each in page.all("input") if each.get("name") == "taken")
    data = {"decision": "none", "taken": str(taken)}
    await visitor.client.post(f"{BUILD}/decisions", data=data)
    assert "Undo:" not in (await visitor.page(BUILD)).text
