"""A build is cancelled at any point of its way, and nothing of it counts from then on."""

import pytest

from storyshelf.builds.build import Build, BuildMovedError, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build, cancel_older, sweep_cancelled
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.shard_store import ShardState
from storyshelf.queue.expiry import end_overdue
from storyshelf.queue.job import Completed, Failed, Outcome, Requeued
from tests.builds.facts import (
    actions_of,
    ended_jobs,
    live_jobs,
    live_kinds,
    run,
    shard_states,
    snapshots_of,
    verdicts_of,
)
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.queue.builders import let_leases_run_out

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)
WHY = Cancel("Ada", "not needed")
STOPPED = Failed("cancelled on request", Outcome.CANCELLED)


async def cancel(hand: Hand, build: Build) -> Build:
    return await cancel_build(hand.db, hand.kinds, build.id, WHY)


async def capturing(hand: Hand, *, shard_cost_ms: int = 60_000) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=shard_cost_ms)
    return build


async def test_an_upload_is_cancelled_with_its_reason(hand: Hand) -> None:
    build = await cancel(hand, await hand.open(STORIES))
    assert (build.state, build.state_reason) == (BuildState.CANCELLED, "not needed")


async def test_the_audit_says_who_cancelled(hand: Hand) -> None:
    build = await cancel(hand, await hand.open(STORIES))
    assert await actions_of(hand, build) == [("Ada", "build.cancel")]


async def test_the_waiting_plan_of_a_cancelled_build_is_gone(hand: Hand) -> None:
    build = await cancel(hand, await hand.upload(STORIES))
    assert await live_kinds(hand, build) == []
    assert await ended_jobs(hand, build) == [("plan", "cancelled")]


async def test_a_plan_that_ends_after_the_cancel_writes_nothing(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    lease = await hand.claim("plan")
    made = await hand.planned(build, STORIES)
    await cancel(hand, build)
    await hand.settle(lease, Completed(made))
    assert (await hand.fresh(build)).state is BuildState.CANCELLED
    assert await live_kinds(hand, build) == []
    assert await snapshots_of(hand, build) == {}


async def test_a_running_plan_is_asked_to_stop(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.claim("plan")
    await cancel(hand, build)
    (job,) = await live_jobs(hand, build)
    assert job["cancel_requested_at"] is not None


async def test_waiting_captures_are_gone_and_their_shards_cancelled(hand: Hand) -> None:
    build = await capturing(hand, shard_cost_ms=100)
    await cancel(hand, build)
    assert await live_kinds(hand, build) == []
    assert await shard_states(hand, build) == [ShardState.CANCELLED] * 2


async def test_a_running_capture_is_asked_to_stop_and_its_shard_waits_for_it(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    await cancel(hand, build)
    (job,) = await live_jobs(hand, build)
    assert job["cancel_requested_at"] is not None
    assert await shard_states(hand, build) == [ShardState.OPEN]


@pytest.mark.parametrize("ending", [STOPPED, Requeued("the consumer was stopped")])
async def test_a_capture_that_stopped_closes_its_shard_and_counts_nothing(
    hand: Hand, ending: Failed | Requeued
) -> None:
    build = await capturing(hand)
    lease = await hand.claim(CAPTURE_LANE)
    cancelled = await cancel(hand, build)
    await hand.settle(lease, ending)
    assert await shard_states(hand, build) == [ShardState.CANCELLED]
    assert await live_kinds(hand, build) == []
    assert await hand.fresh(build) == cancelled


async def test_a_capture_that_died_after_the_cancel_ends_as_cancelled(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    await cancel(hand, build)
    await let_leases_run_out(hand.db)
    await end_overdue(hand.db, hand.kinds)
    assert await shard_states(hand, build) == [ShardState.CANCELLED]
    assert await live_kinds(hand, build) == []


async def test_a_capture_that_was_done_all_the_same_closes_its_shard_and_ends_nothing(
    hand: Hand,
) -> None:
    build = await capturing(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await hand.shoot(lease, LOOK)
    cancelled = await cancel(hand, build)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    assert await shard_states(hand, build) == [ShardState.DONE]
    assert await live_kinds(hand, build) == []
    assert await hand.fresh(build) == cancelled


async def test_a_capture_that_gave_up_for_the_cancel_does_not_go_round_again(hand: Hand) -> None:
    build = await capturing(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await cancel(hand, build)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    assert await shard_states(hand, build) == [ShardState.CANCELLED]
    assert await live_kinds(hand, build) == []


async def test_results_that_come_after_the_cancel_are_kept_and_change_no_state(hand: Hand) -> None:
    build = await capturing(hand)
    lease = await hand.claim(CAPTURE_LANE)
    cancelled = await cancel(hand, build)
    await hand.shoot(lease, LOOK)
    await hand.settle(lease, STOPPED)
    assert set((await verdicts_of(hand, build)).values()) == {"added"}
    assert await hand.fresh(build) == cancelled


async def test_a_build_between_its_last_shard_and_its_end_is_cancelled(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    assert await live_kinds(hand, build) == ["finalise"]
    await cancel(hand, build)
    assert await live_kinds(hand, build) == []


async def test_a_finalise_that_runs_during_the_cancel_decides_nothing(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    lease = await hand.claim("build")
    cancelled = await cancel(hand, build)
    await hand.settle(lease, Completed(None), hand.kind("finalise").parse(lease.payload))
    assert await hand.fresh(build) == cancelled


async def test_a_build_that_is_cancelled_twice_stays_as_it_was(hand: Hand) -> None:
    build = await cancel(hand, await hand.open(STORIES))
    other = Cancel("Ben", "me too")
    assert await cancel_build(hand.db, hand.kinds, build.id, other) == build


@pytest.mark.parametrize(
    ("look", "state"),
    [
        (LOOK, BuildState.PASSED),
        (LOOK | {"a--one": "pink"}, BuildState.PENDING),
        (LOOK | {"a--one": "!"}, BuildState.BROKEN),
    ],
)
async def test_a_build_that_has_ended_is_not_cancelled(
    hand: Hand, look: dict[str, str], state: BuildState
) -> None:
    await hand.run(LOOK)
    build = await hand.run(look)
    with pytest.raises(BuildMovedError, match=f"is {state} cannot become cancelled") as late:
        await cancel(hand, build)
    assert "only one that is uploading or queued or planning or capturing can" in (
        late.value.next_step
    )


async def test_a_build_cancelled_in_upload_is_no_ancestor(hand: Hand) -> None:
    first = await hand.run(LOOK)
    await cancel(hand, await hand.open(STORIES))
    assert (await hand.run(LOOK)).ancestor_build_id == first.id


async def test_a_build_cancelled_while_it_is_captured_hands_its_baselines_on(hand: Hand) -> None:
    await hand.run(LOOK)
    cancelled = await cancel(hand, await capturing(hand))
    third = await hand.run(LOOK)
    assert (third.ancestor_build_id, third.state) == (cancelled.id, BuildState.PASSED)


async def test_a_first_build_that_was_cancelled_leaves_its_rule_to_the_next(hand: Hand) -> None:
    await cancel(hand, await capturing(hand))
    build = await hand.run(LOOK)
    assert (build.rule, build.state) == ("first build", BuildState.ACCEPTED)


async def cut_in_two(hand: Hand, build: Build) -> None:
    """What a crash between the two transactions of a cancel leaves."""
    cancelled = "state = 'cancelled', ended_at = now(), generation = generation + 1"
    statement = f"UPDATE builds SET {cancelled}, open_shards = 0 WHERE id = :id"
    await run(hand, statement, id=build.id)


async def test_the_sweep_does_what_a_crash_left_of_a_cancel(hand: Hand) -> None:
    build = await capturing(hand, shard_cost_ms=100)
    await hand.claim(CAPTURE_LANE)
    await cut_in_two(hand, build)
    await sweep_cancelled(hand.db, hand.kinds)
    (running,) = await live_jobs(hand, build)
    assert running["cancel_requested_at"] is not None
    assert set(await shard_states(hand, build)) == {ShardState.OPEN, ShardState.CANCELLED}


async def test_the_sweep_finds_what_was_left_of_a_build_that_is_captured_again(hand: Hand) -> None:
    build = await capturing(hand)
    await cut_in_two(hand, build)
    await capture_again(hand.db, build.id, "Ada")
    await sweep_cancelled(hand.db, hand.kinds)
    assert await live_kinds(hand, build) == ["plan"]


async def test_the_sweep_leaves_builds_alone_that_are_under_way(hand: Hand) -> None:
    build = await capturing(hand)
    before = await live_jobs(hand, build)
    await sweep_cancelled(hand.db, hand.kinds)
    assert await live_jobs(hand, build) == before


async def test_an_upload_takes_the_place_of_the_branchs_unfinished_builds(hand: Hand) -> None:
    ended = await hand.run(LOOK)
    older = [await hand.upload(STORIES), await hand.open(STORIES)]
    newest = await hand.open(STORIES)
    await cancel_older(hand.db, hand.kinds, newest)
    assert [(await hand.fresh(each)).state for each in older] == [BuildState.CANCELLED] * 2
    assert (await hand.fresh(ended)).state is BuildState.ACCEPTED
    assert (await hand.fresh(newest)).state is BuildState.UPLOADING


async def test_the_reason_of_an_older_build_names_the_newer_one(hand: Hand) -> None:
    older, newest = await hand.open(STORIES), await hand.open(STORIES)
    await cancel_older(hand.db, hand.kinds, newest)
    assert (await hand.fresh(older)).state_reason == "build 2 of the branch took its place"
    assert await actions_of(hand, older) == [("rule: newer build", "build.cancel")]


async def test_an_upload_leaves_other_branches_and_newer_builds_alone(hand: Hand) -> None:
    elsewhere, first, newer = (
        await hand.open(STORIES, "feature"),
        await hand.open(STORIES),
        await hand.open(STORIES),
    )
    await cancel_older(hand.db, hand.kinds, first)
    for untouched in (elsewhere, first, newer):
        assert (await hand.fresh(untouched)).state is BuildState.UPLOADING
