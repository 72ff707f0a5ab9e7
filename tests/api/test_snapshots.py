"""Snapshots: listed, paged, shown; decided by compare-and-set."""

from typing import Any

import pytest

from storyshelf.snapshots.snapshot import ConsoleLine
from tests.api.client import Robo, problem
from tests.api.test_builds import all_items, shown
from tests.builds.hand import Hand
from tests.ui.test_snapshot import a_result

MALFORMED = "malformed-request"
LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}


async def listed(robo: Robo, number: int = 2, **query: Any) -> list[dict[str, Any]]:
    return await all_items(robo, f"{robo.builds}/{number}/snapshots", **{"limit": 50} | query)


async def decide(robo: Robo, decision: str, **what: Any) -> Any:
    return await robo.post(f"{robo.builds}/2/decisions", json={"decision": decision, **what})


@pytest.fixture
async def changed(robo: Robo, hand: Hand) -> dict[str, Any]:
    """The one changed snapshot of build 2, which also has an errored one."""
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet", "b--one": "!"})
    (found,) = await listed(robo, verdict="changed")
    return found


async def test_a_snapshot_tells_what_explains_it(robo: Robo, changed: dict[str, Any]) -> None:
    assert (changed["story_id"], changed["mode"], changed["browser"]) == (
        "a--two",
        "default",
        "chromium",
    )
    assert changed["url"].endswith(f"/projects/shop/builds/2/snapshots/{changed['id']}")
    assert changed["baseline"]["build"] == 1
    assert changed["baseline"]["image"] != changed["image"]
    assert changed["baseline"]["reason"] == changed["baseline_reason"]
    assert (
        changed["diff"]
        == {
            "changed_px": 2,
            "raw_px": 3,
            "regions": [[1, 2, 3, 4]],
            "engine": "yiq-7 numpy 1",
            "mask": None,
            "size_changed": False,
        }
        or changed["diff"]["raw_px"] == 3
    )
    alone = await robo.get(f"{robo.builds}/2/snapshots/{changed['id']}")
    assert alone.json() == changed


async def test_a_snapshot_tells_what_its_story_wrote_to_the_console(robo: Robo, hand: Hand) -> None:
    await a_result(hand, {"a--one": "red"}, console=(ConsoleLine("warning", "a prop is old"),))
    (found,) = await listed(robo, number=1)
    assert found["console"] == [{"level": "warning", "text": "a prop is old"}]


async def test_an_errored_snapshot_tells_its_error(robo: Robo, changed: dict[str, Any]) -> None:
    (errored,) = await listed(robo, verdict="errored")
    assert errored["error"] == {"code": "render_failed", "message": "boom", "stack": ""}


async def test_snapshots_are_paged_in_order_of_their_stories(robo: Robo, hand: Hand) -> None:
    look = {f"s--{number}": "red" for number in range(7)}
    await hand.run(look)
    assert [each["story_id"] for each in await listed(robo, 1, limit=2)] == sorted(look)


async def test_a_snapshot_that_is_not_in_the_build_is_not_found(
    robo: Robo, changed: dict[str, Any]
) -> None:
    problem(await robo.get(f"{robo.builds}/1/snapshots/{changed['id']}"), 404, "no-such-snapshot")
    problem(await robo.get(f"{robo.builds}/2/snapshots/{2**63}"), 422, "malformed-request")


async def test_a_decision_is_taken_by_what_was_seen(robo: Robo, changed: dict[str, Any]) -> None:
    one = [{"id": changed["id"], "seen": "none"}]
    accepted = await decide(robo, "accepted", snapshots=one)
    assert accepted.json()["decided"] == 1
    (after,) = await listed(robo, verdict="changed")
    assert (after["decision"], after["decided_by"]) == ("accepted", "token ci")
    problem(await decide(robo, "denied", snapshots=one), 409, "decision-moved")
    undone = await decide(robo, "none", snapshots=[{"id": changed["id"], "seen": "accepted"}])
    assert undone.json()["build"]["counts"]["undecided"] == 1


async def test_an_errored_snapshot_is_never_decided(robo: Robo, changed: dict[str, Any]) -> None:
    (errored,) = await listed(robo, verdict="errored")
    both = [{"id": each["id"], "seen": "none"} for each in (changed, errored)]
    problem(await decide(robo, "accepted", snapshots=both), 409, "undecidable")
    everything = (await decide(robo, "accepted", all=True)).json()
    assert everything["decided"] == 1
    assert everything["build"]["state"] == "broken"
    (errored,) = await listed(robo, verdict="errored")
    assert errored["decision"] == "none"


async def test_decisions_move_the_build(robo: Robo, hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    states = [
        (await decide(robo, decision, **what)).json()["build"]["state"]
        for decision, what in (
            ("denied", {"all": True}),
            ("none", {"snapshots": [{"id": await only_changed(robo), "seen": "denied"}]}),
            ("accepted", {"all": True}),
        )
    ]
    assert states == ["denied", "pending", "accepted"]
    assert (await shown(robo, 2))["counts"]["accepted"] == 1


@pytest.mark.parametrize("what", [{}, {"snapshots": []}, {"snapshots": [1], "all": True}])
async def test_a_decision_says_what_it_is_about(
    robo: Robo, changed: dict[str, Any], what: dict[str, Any]
) -> None:
    one = [{"id": changed["id"], "seen": "none"} for _ in what.get("snapshots", [])]
    body = what | ({"snapshots": one} if "snapshots" in what else {})
    problem(await decide(robo, "accepted", **body), 422, "nothing-to-decide")


@pytest.mark.parametrize(
    "body", [{"decision": "maybe", "all": True}, {"decision": "accepted", "snapshots": [{"id": 1}]}]
)
async def test_a_malformed_decision_is_refused(
    robo: Robo, changed: dict[str, Any], body: dict[str, Any]
) -> None:
    answer = await robo.post(f"{robo.builds}/2/decisions", json=body)
    problem(answer, 422, "malformed-request")


async def test_a_snapshot_that_does_not_exist_is_not_decided(
    robo: Robo, changed: dict[str, Any]
) -> None:
    for unknown, status, kind in ((10**6, 404, "no-such-snapshot"), (2**70, 422, MALFORMED)):
        answer = await decide(robo, "accepted", snapshots=[{"id": unknown, "seen": "none"}])
        problem(answer, status, kind)


async def only_changed(robo: Robo) -> int:
    (found,) = await listed(robo, verdict="changed")
    return int(found["id"])
