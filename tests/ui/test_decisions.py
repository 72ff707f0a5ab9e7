"""`POST /projects/{slug}/builds/{number}/decisions`: what forms decide and where they lead."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from storyshelf.auth.permissions import Role
from storyshelf.builds.build import Build, BuildState
from storyshelf.db.engine import Database
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand
from tests.people import sign_in
from tests.ui.visitor import Page, Visitor

BUILD = "/projects/shop/builds/2"
DECISIONS = f"{BUILD}/decisions"
LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}
NEXT = {"a--one": "pink", "a--two": "violet", "b--one": "!", "c--new": "white"}


@pytest.fixture
async def build(hand: Hand) -> Build:
    """Two changed, one errored, one added."""
    await hand.run(LOOK)
    return await hand.run(NEXT)


async def send(visitor: Visitor, **fields: Any) -> httpx.Response:
    return await visitor.client.post(DECISIONS, data=fields)


async def ids_of(hand: Hand, build: Build) -> dict[str, int]:
    return {story: row["id"] for story, row in (await snapshots_of(hand, build)).items()}


async def decisions_of(hand: Hand, build: Build) -> Mapping[str, str]:
    return {story: row["decision"] for story, row in (await snapshots_of(hand, build)).items()}


async def test_a_snapshot_is_accepted_and_the_page_goes_on_to_what_waits_next(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    ids = await ids_of(hand, build)
    steps = [("a--one", "a--two"), ("a--two", "c--new")]
    for story, following in steps:
        snapshot = f"{ids[story]}:none"
        answer = await send(visitor, decision="accepted", snapshot=snapshot, then="next")
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{BUILD}/snapshots/{ids[following]}"
    last = await send(visitor, decision="denied", snapshot=f"{ids['c--new']}:none", then="next")
    assert last.headers["location"] == BUILD
    assert (await decisions_of(hand, build))["c--new"] == "denied"


async def test_what_waits_next_stays_in_the_choice_that_is_reviewed(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    ids = await ids_of(hand, build)
    answer = await send(
        visitor,
        decision="accepted",
        snapshot=f"{ids['a--two']}:none",
        then="next?q=two&decision=undecided",
    )
    assert answer.headers["location"] == f"{BUILD}?decision=undecided&q=two"


async def test_the_answer_leads_to_the_own_page_that_the_form_names(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    then = f"{BUILD}?verdict=changed"
    answer = await send(visitor, decision="accepted", all="1", then=then)
    assert answer.headers["location"] == then


@pytest.mark.parametrize(
    "then",
    [
        "https://elsewhere.test/",
        "//elsewhere.test/",
        "/\\elsewhere.test",
        "javascript:alert(1)",
        "/\t/x",
    ],
)
async def test_the_answer_leads_nowhere_else(
    hand: Hand, visitor: Visitor, build: Build, then: str
) -> None:
    answer = await send(visitor, decision="accepted", all="1", then=then)
    assert answer.headers["location"] == BUILD


async def test_several_are_decided_at_once_or_none(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    ids = await ids_of(hand, build)
    await send(visitor, decision="denied", snapshot=f"{ids['a--one']}:none")
    both = [f"{ids['a--one']}:none", f"{ids['a--two']}:none"]
    assert (await send(visitor, decision="accepted", snapshot=both)).status_code == 409
    assert (await decisions_of(hand, build))["a--two"] == "none"
    both[0] = f"{ids['a--one']}:denied"
    assert (await send(visitor, decision="accepted", snapshot=both)).status_code == 303
    assert (await decisions_of(hand, build))["a--one"] == "accepted"


async def test_all_means_all_but_the_errored(hand: Hand, visitor: Visitor, build: Build) -> None:
    assert (await send(visitor, decision="accepted", all="1", waiting="3")).status_code == 303
    assert await decisions_of(hand, build) == {
        "a--one": "accepted",
        "a--two": "accepted",
        "b--one": "none",
        "c--new": "accepted",
    }
    assert (await hand.fresh(build)).state is BuildState.BROKEN


async def test_a_group_is_decided_alone(hand: Hand, visitor: Visitor, build: Build) -> None:
    await send(visitor, decision="denied", all="1", verdict="changed", q="ONE")
    assert await decisions_of(hand, build) == {
        "a--one": "denied",
        "a--two": "none",
        "b--one": "none",
        "c--new": "none",
    }


async def test_an_errored_one_cannot_be_named_either(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    ids = await ids_of(hand, build)
    answer = await send(visitor, decision="accepted", snapshot=f"{ids['b--one']}:none")
    assert answer.status_code == 409
    assert "A snapshot that is errored cannot be accepted or denied" in Page(answer).text


async def test_another_number_than_the_page_said_is_told_before_anything_is_decided(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    answer = await send(visitor, decision="accepted", all="1", waiting="9")
    assert answer.status_code == 409
    page = Page(answer)
    assert "9 snapshots waited when you looked, 3 wait now; nothing was decided" in page.text
    assert BUILD in page.links
    assert set((await decisions_of(hand, build)).values()) == {"none"}


async def test_a_decision_that_moved_is_a_page_that_leads_back(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    ids = await ids_of(hand, build)
    await send(visitor, decision="denied", snapshot=f"{ids['a--one']}:none")
    answer = await send(visitor, decision="accepted", snapshot=f"{ids['a--one']}:none", then="next")
    assert answer.status_code == 409
    page = Page(answer)
    assert "The decision was none when you looked and is denied now" in page.text
    assert f"{BUILD}/snapshots/{ids['a--one']}" in page.links


async def test_script_gets_a_refusal_that_goes_into_the_page(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    answer = await visitor.client.post(
        DECISIONS,
        data={"decision": "accepted", "all": "1", "waiting": "9"},
        headers={"hx-request": "true"},
    )
    assert answer.status_code == 409
    assert answer.headers["hx-retarget"] == "#notice"
    assert Page(answer).by_id(answer.headers["hx-reselect"].removeprefix("#"))


async def test_a_decision_is_undone(hand: Hand, visitor: Visitor, build: Build) -> None:
    ids = await ids_of(hand, build)
    await send(visitor, decision="denied", snapshot=f"{ids['a--one']}:none")
    await send(visitor, decision="none", snapshot=f"{ids['a--one']}:denied")
    assert (await decisions_of(hand, build))["a--one"] == "none"


async def test_the_last_decision_is_undone_as_it_was_taken_as_one(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    await send(visitor, decision="accepted", all="1")
    taken = (await snapshots_of(hand, build))["a--one"]["decided_at"].isoformat()
    assert (await send(visitor, decision="none", taken=taken)).status_code == 303
    assert set((await decisions_of(hand, build)).values()) == {"none"}


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": "accepted"},
        {"decision": "accepted", "all": "1", "snapshot": "1:none"},
        {"decision": "maybe", "all": "1"},
        {"decision": "accepted", "snapshot": "1"},
        {"decision": "accepted", "snapshot": "99999999999999999999:none"},
        {"decision": "accepted", "snapshot": ["1:none"] * 501},
        {"decision": "none", "taken": "yesterday"},
        {"decision": "accepted", "all": "1", "q": "x" * 201},
    ],
)
async def test_a_form_that_says_nothing_is_refused(
    hand: Hand, visitor: Visitor, build: Build, fields: dict[str, Any]
) -> None:
    answer = await send(visitor, **fields)
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert set((await decisions_of(hand, build)).values()) == {"none"}


async def test_a_snapshot_of_another_build_is_not_decided_here(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    other = await ids_of(hand, await hand.run(LOOK))
    answer = await send(visitor, decision="accepted", snapshot=f"{other['a--one']}:none")
    assert answer.status_code == 404


async def test_a_form_of_more_than_a_megabyte_or_of_too_many_fields_is_not_read(
    visitor: Visitor, build: Build
) -> None:
    answer = await send(visitor, decision="accepted", q="x" * 1_100_000)
    assert answer.status_code == 413
    many = await send(visitor, decision="accepted", snapshot=["1:none"] * 1_001)
    assert many.status_code == 400


async def test_who_may_only_look_decides_nothing(
    hand: Hand, db: Database, visitor: Visitor, build: Build
) -> None:
    roles = {hand.project.id: Role.DEVELOPER}
    await sign_in(db, visitor.client, "cleo@shelf.test", roles=roles)
    answer = await send(visitor, decision="accepted", all="1")
    assert answer.status_code == 403
    assert set((await decisions_of(hand, build)).values()) == {"none"}


async def test_a_form_of_another_origin_decides_nothing(
    hand: Hand, visitor: Visitor, build: Build
) -> None:
    answer = await visitor.client.post(
        DECISIONS,
        data={"decision": "accepted", "all": "1"},
        headers={"origin": "https://elsewhere.test"},
    )
    assert answer.status_code == 403
    assert set((await decisions_of(hand, build)).values()) == {"none"}
