"""The filters of a build's page, all of which are in its address."""

import pytest

from tests.builds.hand import Hand
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds/2"
LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue", "b--two": "grey"}
NEXT = {"a--one": "pink", "a--two": "violet", "b--one": "!", "b--two": "grey", "c--one": "white"}


@pytest.fixture(autouse=True)
async def build(hand: Hand) -> None:
    """Two changed, one errored, one unchanged, one added."""
    await hand.run(LOOK)
    await hand.run(NEXT)


def cards_of(page: Page) -> int:
    return len([each for each in page.ids if each.startswith("card-")])


def fields_of(page: Page) -> dict[str, str | None]:
    """The fields of the first forms: those of the whole page stand above those of its groups."""
    named = [each for each in page.all("input") if "name" in each]
    return {str(each["name"]): each.get("value") for each in reversed(named)}


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 5),
        ("q=ONE", 3),
        ("q=one&verdict=changed", 1),
        ("component=a--two", 1),
        ("decision=undecided", 3),
        ("decision=accepted", 0),
        ("verdict=&decision=&q=", 5),  # as a form without script sends it
    ],
)
async def test_an_address_shows_what_it_says(visitor: Visitor, query: str, number: int) -> None:
    page = await visitor.page(f"{BUILD}?{query}")
    assert cards_of(page) == number
    assert ("No snapshot is like that" in page.text) is (number == 0)


async def test_every_link_of_a_filtered_page_keeps_its_filter(visitor: Visitor) -> None:
    page = await visitor.page(f"{BUILD}?q=one&decision=undecided")
    snapshots = [link for link in page.links if "/snapshots/" in link]
    assert snapshots
    assert all(link.endswith("?decision=undecided&q=one") for link in snapshots)
    assert f"{BUILD}?verdict=added&decision=undecided&q=one" in page.links
    assert BUILD in page.links  # and one leads out of it


async def test_verdicts_are_counted_within_the_filter(visitor: Visitor) -> None:
    page = await visitor.page(f"{BUILD}?q=one&verdict=added")
    assert f"{BUILD}?verdict=changed&q=one" in page.links
    assert "changed 1 added 1 errored 1" in page.text


async def test_all_of_a_filtered_page_is_what_it_shows(visitor: Visitor) -> None:
    page = await visitor.page(f"{BUILD}?q=one")
    assert "Accept 2 snapshots with “one”?" in page.text
    assert "1 errored snapshot is not among them." in page.text
    fields = fields_of(page)
    sent = {name: fields[name] for name in ("all", "waiting", "q", "then")}
    answer = await visitor.client.post(f"{BUILD}/decisions", data={"decision": "accepted", **sent})
    assert answer.headers["location"] == f"{BUILD}?q=one"
    assert cards_of(await visitor.page(f"{BUILD}?decision=accepted")) == 2


@pytest.mark.parametrize("query", ["verdict=ugly", "decision=maybe", f"q={'x' * 201}", "after=x"])
async def test_an_address_that_says_nothing_is_refused(visitor: Visitor, query: str) -> None:
    status = 200 if query == "after=x" else 422  # of all verdicts there is no next page
    await visitor.page(f"{BUILD}?{query}", status=status)
    await visitor.page(f"{BUILD}?verdict=changed&after=x", status=422)
