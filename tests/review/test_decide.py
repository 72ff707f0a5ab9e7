"""People decide: what it does to the build, to what is handed on, and who comes first."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.ids import SnapshotId
from storyshelf.queue.job import Failed
from storyshelf.review.decide import (
    Decided,
    Seen,
    Waiting,
    WaitingMovedError,
    decide,
    decide_all,
    take_back,
)
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.decision import (
    Decision,
    DecisionMovedError,
    NoSuchSnapshotError,
    UndecidableError,
)
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.facts import actions_of, read, snapshots_of, verdicts_of
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.db.waiting import someone_waits
from tests.people import ADA, BEN

NONE, ACCEPTED, DENIED = Decision.NONE, Decision.ACCEPTED, Decision.DENIED
LOOK = {"a--one": "red", "b--one": "blue"}
CHANGED = LOOK | {"a--one": "pink"}
BOTH = {"a--one": "pink", "b--one": "cyan"}


async def pending(hand: Hand, look: dict[str, str] = CHANGED) -> Build:
    """A second build, with what the first did not have waiting for a decision."""
    await hand.run(LOOK)
    return await hand.run(look)


async def say(
    hand: Hand, build: Build, decision: Decision, *stories: str, seen: Decision = NONE
) -> Decided:
    rows = await snapshots_of(hand, build)
    wanted = [Seen(SnapshotId(rows[story]["id"]), seen) for story in stories]
    return await decide(hand.db, build.id, wanted, decision, BEN)


@pytest.mark.parametrize(
    ("decision", "state"), [(ACCEPTED, BuildState.ACCEPTED), (DENIED, BuildState.DENIED)]
)
async def test_the_last_decision_gives_the_build_its_state(
    hand: Hand, decision: Decision, state: BuildState
) -> None:
    decided = await say(hand, await pending(hand), decision, "a--one")
    assert (decided.build.state, decided.number) == (state, 1)


async def test_a_build_is_pending_until_everything_is_decided(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    assert (await say(hand, build, ACCEPTED, "a--one")).build.state is BuildState.PENDING
    assert (await say(hand, build, ACCEPTED, "b--one")).build.state is BuildState.ACCEPTED


async def test_one_denied_change_denies_the_build(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    await say(hand, build, DENIED, "a--one")
    assert (await say(hand, build, ACCEPTED, "b--one")).build.state is BuildState.DENIED


async def test_a_decision_keeps_who_took_it_and_when(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    row = (await snapshots_of(hand, build))["a--one"]
    assert (row["decided_by"], row["decided_at"] is None) == (BEN.actor, False)
    assert await actions_of(hand, build) == [(BEN.actor, "snapshots.decide")]


async def test_a_decision_is_taken_back(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    undone = await say(hand, build, NONE, "a--one", seen=ACCEPTED)
    row = (await snapshots_of(hand, build))["a--one"]
    assert undone.build.state is BuildState.PENDING
    assert (row["decided_by"], row["decided_at"]) == (None, None)
    assert row["effective_snapshot_id"] == row["baseline_snapshot_id"]


async def test_a_decision_is_turned_round(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    turned = await say(hand, build, DENIED, "a--one", seen=ACCEPTED)
    assert turned.build.state is BuildState.DENIED


async def test_deciding_what_is_decided_so_already_changes_nothing(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    before = await snapshots_of(hand, build)
    assert (await say(hand, build, ACCEPTED, "a--one", seen=ACCEPTED)).number == 0
    assert await snapshots_of(hand, build) == before


async def test_a_decision_does_not_change_when_the_build_ended(hand: Hand) -> None:
    build = await pending(hand)
    assert (await say(hand, build, ACCEPTED, "a--one")).build.ended_at == build.ended_at


async def test_a_reviewer_who_saw_something_else_is_refused(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, DENIED, "a--one")
    with pytest.raises(DecisionMovedError, match="was none when you looked and is denied now"):
        await say(hand, build, ACCEPTED, "a--one")
    assert (await hand.fresh(build)).state is BuildState.DENIED


async def test_of_two_reviewers_at_once_the_second_is_refused(hand: Hand) -> None:
    build = await pending(hand)
    held = "SELECT id FROM builds WHERE id = :id FOR UPDATE"
    async with asyncio.TaskGroup() as group, hand.db.transaction() as tx:
        await tx.execute(text(held), {"id": build.id})
        answers = [
            group.create_task(answer(say(hand, build, decision, "a--one")))
            for decision in (ACCEPTED, DENIED)
        ]
        await someone_waits(hand.db)
    refusals = [task.result() for task in answers if task.result() is not None]
    assert [type(refusal) for refusal in refusals] == [DecisionMovedError]


async def answer(deciding: Coroutine[Any, Any, Decided]) -> DecisionMovedError | None:
    try:
        await deciding
    except DecisionMovedError as refused:
        return refused
    return None


async def test_named_snapshots_are_decided_all_or_none(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    await say(hand, build, DENIED, "b--one")
    with pytest.raises(DecisionMovedError):
        await say(hand, build, ACCEPTED, "a--one", "b--one")
    assert (await snapshots_of(hand, build))["a--one"]["decision"] == NONE


@pytest.mark.parametrize(("shown", "verdict"), [("!", Verdict.ERRORED), ("red", Verdict.UNCHANGED)])
async def test_what_is_errored_or_unchanged_cannot_be_decided(
    hand: Hand, shown: str, verdict: Verdict
) -> None:
    build = await pending(hand, LOOK | {"a--one": shown})
    with pytest.raises(UndecidableError, match=f"that is {verdict} cannot"):
        await say(hand, build, ACCEPTED, "a--one")


async def test_a_snapshot_of_another_build_is_not_decided_here(hand: Hand) -> None:
    first = await hand.run(LOOK)
    build = await hand.run(CHANGED)
    theirs = (await snapshots_of(hand, first))["a--one"]["id"]
    with pytest.raises(NoSuchSnapshotError, match=f"build 2, snapshot {theirs}"):
        await decide(hand.db, build.id, [Seen(SnapshotId(theirs), ACCEPTED)], DENIED, BEN)


@pytest.mark.parametrize(
    ("decision", "state"), [(ACCEPTED, BuildState.ACCEPTED), (DENIED, BuildState.DENIED)]
)
async def test_all_that_waits_is_decided_at_once(
    hand: Hand, decision: Decision, state: BuildState
) -> None:
    build = await pending(hand, {"a--one": "pink", "c--new": "gold"})
    decided = await decide_all(hand.db, build.id, decision, BEN)
    assert (decided.build.state, decided.number) == (state, 3)


async def test_deciding_all_leaves_earlier_decisions_alone(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    await say(hand, build, DENIED, "b--one")
    decided = await decide_all(hand.db, build.id, ACCEPTED, ADA)
    assert (decided.build.state, decided.number) == (BuildState.DENIED, 1)
    assert (await snapshots_of(hand, build))["b--one"]["decided_by"] == BEN.actor


async def test_a_broken_builds_changes_are_decided_and_it_stays_broken(hand: Hand) -> None:
    build = await pending(hand, {"a--one": "!", "b--one": "cyan"})
    decided = await decide_all(hand.db, build.id, ACCEPTED, BEN)
    assert (decided.build.state, decided.number) == (BuildState.BROKEN, 1)
    assert (await snapshots_of(hand, build))["a--one"]["decision"] == NONE


async def test_a_failed_builds_results_are_decided_and_it_stays_failed(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK), shard_cost_ms=100)
    await hand.capture_one(BOTH)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    await hand.finalise(build)
    decided = await decide_all(hand.db, build.id, ACCEPTED, BEN)
    assert (decided.build.state, decided.number) == (BuildState.FAILED, 1)


async def test_a_cancelled_builds_results_are_decided_and_it_stays_cancelled(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await hand.shoot(await hand.claim(CAPTURE_LANE), CHANGED)
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("Ada", "not needed"))
    decided = await say(hand, build, ACCEPTED, "a--one")
    assert (decided.build.state, decided.number) == (BuildState.CANCELLED, 1)


@pytest.mark.parametrize(
    ("decision", "state"), [(ACCEPTED, BuildState.ACCEPTED), (DENIED, BuildState.DENIED)]
)
async def test_a_decision_taken_while_the_build_is_captured_counts_at_its_end(
    hand: Hand, decision: Decision, state: BuildState
) -> None:
    await hand.run(LOOK)
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK), shard_cost_ms=100)
    await hand.capture_one(BOTH)
    (story,) = [s for s, v in (await verdicts_of(hand, build)).items() if v is Verdict.CHANGED]
    assert (await say(hand, build, decision, story)).build.state is BuildState.CAPTURING
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is state


async def test_what_is_still_planned_cannot_be_decided(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    with pytest.raises(UndecidableError, match="that is planned"):
        await say(hand, build, ACCEPTED, "a--one")


async def test_an_accepted_change_is_the_next_builds_baseline(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    assert (await hand.run(CHANGED)).state is BuildState.PASSED


async def test_a_denied_change_is_reported_again(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, DENIED, "a--one")
    assert (await hand.run(CHANGED)).state is BuildState.PENDING
    assert (await hand.run(LOOK)).state is BuildState.PASSED


async def test_a_change_that_was_taken_back_is_reported_again(hand: Hand) -> None:
    build = await pending(hand)
    await say(hand, build, ACCEPTED, "a--one")
    await say(hand, build, NONE, "a--one", seen=ACCEPTED)
    assert (await hand.run(CHANGED)).state is BuildState.PENDING


async def test_a_decision_comes_too_late_for_a_build_that_was_planned_before(hand: Hand) -> None:
    build = await pending(hand)
    third = await hand.upload(sorted(CHANGED))
    await hand.plan(third, sorted(CHANGED))
    await say(hand, build, ACCEPTED, "a--one")
    await hand.capture(third, CHANGED)
    assert (await hand.finalise(third)).state is BuildState.PENDING


async def test_an_accepted_removal_is_not_reported_again(hand: Hand) -> None:
    only = {"b--one": "blue"}
    build = await pending(hand, only)
    assert await verdicts_of(hand, build) == {"a--one": "removed", "b--one": "unchanged"}
    await say(hand, build, ACCEPTED, "a--one")
    third = await hand.run(only)
    assert (third.state, await verdicts_of(hand, third)) == (
        BuildState.PASSED,
        {"b--one": "unchanged"},
    )


async def test_a_story_that_comes_back_after_an_accepted_removal_is_added(hand: Hand) -> None:
    build = await pending(hand, {"b--one": "blue"})
    await say(hand, build, ACCEPTED, "a--one")
    assert (await verdicts_of(hand, await hand.run(LOOK)))["a--one"] is Verdict.ADDED


@pytest.mark.parametrize("decision", [NONE, DENIED])
async def test_a_removal_that_was_not_accepted_is_reported_again(
    hand: Hand, decision: Decision
) -> None:
    only = {"b--one": "blue"}
    build = await pending(hand, only)
    if decision is DENIED:
        await say(hand, build, DENIED, "a--one")
    third = await hand.run(only)
    assert (third.state, (await verdicts_of(hand, third))["a--one"]) == (
        BuildState.PENDING,
        "removed",
    )


async def test_a_removed_story_that_comes_back_unaccepted_is_compared_with_what_it_was(
    hand: Hand,
) -> None:
    await pending(hand, {"b--one": "blue"})
    assert (await hand.run(LOOK)).state is BuildState.PASSED


async def test_an_errored_story_hands_its_baseline_on(hand: Hand) -> None:
    await pending(hand, LOOK | {"a--one": "!"})
    assert (await hand.run(LOOK)).state is BuildState.PASSED


async def test_decisions_of_many_at_once_each_count(hand: Hand) -> None:
    look = {f"s{n}--x": f"colour {n}" for n in range(6)}
    await hand.run(look)
    build = await hand.run({story: f"other {shown}" for story, shown in look.items()})
    async with asyncio.TaskGroup() as group:
        for story in look:
            group.create_task(say(hand, build, ACCEPTED, story))
    assert (await hand.fresh(build)).state is BuildState.ACCEPTED
    said = "SELECT count(*) AS n FROM audit_events WHERE action = 'snapshots.decide'"
    assert await read(hand, said) == [{"n": 6}]


async def test_what_waits_of_a_choice_is_decided_alone(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    decided = await decide_all(hand.db, build.id, ACCEPTED, ADA, Waiting(Among(text="a--"), 1))
    assert (decided.number, decided.build.state) == (1, BuildState.PENDING)
    rows = await snapshots_of(hand, build)
    assert [rows[story]["decision"] for story in ("a--one", "b--one")] == [ACCEPTED, NONE]


async def test_nothing_is_decided_where_another_number_waits_than_was_seen(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    with pytest.raises(WaitingMovedError, match="5 snapshots waited when you looked, 2 wait now"):
        await decide_all(hand.db, build.id, ACCEPTED, ADA, Waiting(seen=5))
    assert (await hand.fresh(build)).state is BuildState.PENDING


async def test_what_was_decided_in_one_go_is_taken_back_in_one(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    await decide_all(hand.db, build.id, DENIED, ADA)
    taken = (await snapshots_of(hand, build))["a--one"]["decided_at"]
    await say(hand, build, ACCEPTED, "b--one", seen=DENIED)
    undone = await take_back(hand.db, build.id, taken, ADA)
    assert (undone.number, undone.build.state) == (1, BuildState.PENDING)
    rows = await snapshots_of(hand, build)
    assert [rows[story]["decision"] for story in ("a--one", "b--one")] == [NONE, ACCEPTED]


async def test_nobody_takes_back_what_another_decided(hand: Hand) -> None:
    build = await pending(hand, BOTH)
    await decide_all(hand.db, build.id, DENIED, ADA)
    taken = (await snapshots_of(hand, build))["a--one"]["decided_at"]
    assert (await take_back(hand.db, build.id, taken, BEN)).number == 0
