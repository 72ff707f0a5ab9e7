"""Ended builds go back: captured again as a whole, or one shard; or a shard is given up."""

from collections.abc import Awaitable, Callable

import pytest

from storyshelf.builds.build import (
    Build,
    BuildMovedError,
    BuildState,
    NeverSealedError,
    NoSuchShardError,
    NothingToRetryError,
    NotOverError,
)
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.capture_again import (
    cancel_shard,
    capture_again,
    retry_shard,
)
from storyshelf.builds.jobs import parse_capture, parse_finalise
from storyshelf.builds.shard_store import ShardState
from storyshelf.ids import SnapshotId
from storyshelf.queue.job import Completed, Failed, Outcome
from storyshelf.review.decide import Seen, decide
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import (
    actions_of,
    live_jobs,
    live_kinds,
    run,
    shard_states,
    shards_of,
    snapshots_of,
    verdicts_of,
)
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.people import BEN

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)
WHY = Cancel("Ada", "not needed")
STOPPED = Failed("cancelled on request", Outcome.CANCELLED)


async def half_failed(hand: Hand, look: dict[str, str] = LOOK) -> tuple[Build, str]:
    """A failed build of two shards, and the story that was never captured."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await hand.capture_one(look)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    failed = await hand.finalise(build)
    (left,) = [s for s, verdict in (await verdicts_of(hand, build)).items() if verdict == "planned"]
    return failed, left


async def failed_shard(hand: Hand, build: Build) -> int:
    shards = await shards_of(hand, build)
    return min(shard.number for shard in shards if shard.state is not ShardState.DONE)


async def retry(hand: Hand, build: Build) -> Build:
    return await retry_shard(hand.db, build.id, await failed_shard(hand, build), "Ada")


async def broken(hand: Hand) -> Build:
    return await hand.run(LOOK | {"a--one": "!"})


async def failed(hand: Hand) -> Build:
    return (await half_failed(hand))[0]


async def cancelled(hand: Hand) -> Build:
    return await cancel_build(hand.db, hand.kinds, (await hand.upload(STORIES)).id, WHY)


async def incomplete(hand: Hand) -> Build:
    build = await broken(hand)
    await run(hand, "UPDATE builds SET state = 'incomplete'")
    return await hand.fresh(build)


@pytest.mark.parametrize("ended", [broken, failed, cancelled, incomplete])
async def test_a_build_that_did_not_end_well_is_captured_again(
    hand: Hand, ended: Callable[[Hand], Awaitable[Build]]
) -> None:
    build = await ended(hand)
    again = await capture_again(hand.db, build.id, "Ada")
    assert (again.state, again.generation) == (BuildState.QUEUED, build.generation + 1)
    assert (again.ended_at, again.state_reason, again.finalise_job_id) == (None, None, None)
    assert await live_kinds(hand, build) == ["plan"]


async def test_a_build_that_is_captured_again_gets_a_new_verdict(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await broken(hand)
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.PASSED


async def test_the_rows_of_before_stay_visible_until_the_new_plan_is_written(hand: Hand) -> None:
    build = await broken(hand)
    before = await snapshots_of(hand, build)
    await capture_again(hand.db, build.id, "Ada")
    assert await snapshots_of(hand, build) == before
    await hand.plan(build, STORIES)
    assert set((await verdicts_of(hand, build)).values()) == {"planned"}


async def test_a_build_that_is_captured_again_is_no_ancestor_meanwhile(hand: Hand) -> None:
    first = await hand.run(LOOK)
    build = await broken(hand)
    await capture_again(hand.db, build.id, "Ada")
    third = await hand.upload(STORIES)
    await hand.claim("plan")  # of the build that is captured again
    await hand.plan(third, STORIES)
    assert (await hand.fresh(third)).ancestor_build_id == first.id


async def test_a_first_build_that_is_captured_again_is_still_the_first(hand: Hand) -> None:
    build = await broken(hand)
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    ended = await hand.finalise(build)
    assert (ended.rule, ended.state) == ("first build", BuildState.ACCEPTED)


@pytest.mark.parametrize("look", [LOOK, LOOK | {"a--one": "pink"}])
async def test_a_build_with_a_good_verdict_is_not_captured_again(
    hand: Hand, look: dict[str, str]
) -> None:
    await hand.run(LOOK)
    build = await hand.run(look)
    with pytest.raises(BuildMovedError):
        await capture_again(hand.db, build.id, "Ada")


async def test_a_build_under_way_is_not_captured_again(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    with pytest.raises(NotOverError, match="still queued"):
        await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    with pytest.raises(NotOverError, match="still capturing"):
        await capture_again(hand.db, build.id, "Ada")


async def both_failed(hand: Hand) -> Build:
    """A failed build whose two shards failed."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    for _ in STORIES:
        await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    return await hand.finalise(build)


async def test_several_shards_are_retried_while_the_build_is_captured_again(hand: Hand) -> None:
    build = await both_failed(hand)
    first = await retry_shard(hand.db, build.id, 1, "Ada")
    lease = await hand.claim(CAPTURE_LANE)
    second = await retry_shard(hand.db, build.id, 2, "Ada")
    assert (second.generation, second.open_shards) == (first.generation, 2)
    await hand.shoot(lease, LOOK)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    await hand.capture_one(LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_shard_that_failed_is_retried_while_the_others_run(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    await retry(hand, build)
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_no_shard_is_retried_once_the_build_is_being_finalised(hand: Hand) -> None:
    build = await both_failed(hand)
    await retry_shard(hand.db, build.id, 1, "Ada")
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    with pytest.raises(NothingToRetryError, match="being finalised"):
        await retry_shard(hand.db, build.id, 2, "Ada")


async def test_a_build_that_was_never_whole_is_not_captured_again(hand: Hand) -> None:
    build = await cancel_build(hand.db, hand.kinds, (await hand.open(STORIES)).id, WHY)
    with pytest.raises(NeverSealedError):
        await capture_again(hand.db, build.id, "Ada")


async def test_the_audit_says_who_had_it_captured_again(hand: Hand) -> None:
    build = await broken(hand)
    await capture_again(hand.db, build.id, "Ada")
    assert await actions_of(hand, build) == [("Ada", "build.capture_again")]


async def test_a_late_capture_of_the_old_generation_counts_nothing_in_the_new(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    late = await hand.claim(CAPTURE_LANE)
    await cancel_build(hand.db, hand.kinds, build.id, WHY)
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    await hand.shoot(late, LOOK)
    await hand.settle(late, Completed(None), parse_capture(late.payload))
    assert (await hand.fresh(build)).open_shards == 1
    assert set((await verdicts_of(hand, build)).values()) == {"planned"}
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


@pytest.mark.parametrize("ending", [Completed(None), Failed("boom"), STOPPED])
async def test_a_late_finalise_of_the_old_generation_ends_nothing(
    hand: Hand, ending: Completed | Failed
) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    late = await hand.claim("build")
    await cancel_build(hand.db, hand.kinds, build.id, WHY)
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    await hand.settle(late, ending, parse_finalise(late.payload))
    assert (await hand.fresh(build)).state is BuildState.CAPTURING


async def test_a_retried_shard_is_captured_and_the_build_ends_anew(hand: Hand) -> None:
    build, _ = await half_failed(hand)
    retried = await retry(hand, build)
    assert (retried.state, retried.generation) == (BuildState.CAPTURING, 2)
    await hand.capture(build, LOOK)
    assert await live_kinds(hand, build) == ["finalise"]
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_retry_captures_only_what_the_shard_left_undone(hand: Hand) -> None:
    build, left = await half_failed(hand)
    await retry(hand, build)
    (job,) = await live_jobs(hand, build)
    assert (job["kind"], job["generation"]) == ("capture", 2)
    work = await hand.work_of(await hand.claim(CAPTURE_LANE))
    assert [snapshot.key.story_id for snapshot in work.snapshots] == [left]


async def test_a_retry_carries_results_and_decisions_over(hand: Hand) -> None:
    await hand.run(LOOK)
    build, left = await half_failed(hand, {"a--one": "pink", "b--one": "pink"})
    before = await snapshots_of(hand, build)
    (kept,) = set(STORIES) - {left}
    seen = [Seen(SnapshotId(before[kept]["id"]), Decision.NONE)]
    await decide(hand.db, build.id, seen, Decision.DENIED, BEN)
    await retry(hand, build)
    after = (await snapshots_of(hand, build))[kept]
    assert (after["id"], after["generation"]) == (before[kept]["id"], 2)
    assert (after["verdict"], after["decision"], after["decided_by"]) == (
        "changed",
        "denied",
        BEN.actor,
    )
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.DENIED


async def test_a_retried_shard_that_fails_again_fails_the_build_again(hand: Hand) -> None:
    build, _ = await half_failed(hand)
    await retry(hand, build)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom again"))
    assert (await hand.finalise(build)).state is BuildState.FAILED
    assert (await retry(hand, build)).generation == 3


async def test_a_retried_shard_starts_with_all_its_rounds(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    for _ in range(3):
        await hand.capture_one({})
    await hand.finalise(build)
    await retry(hand, build)
    await hand.capture_one({})
    assert await shard_states(hand, build) == [ShardState.OPEN]


async def test_a_shard_is_retried_while_another_failed_one_keeps_the_build_failed(
    hand: Hand,
) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    for _ in STORIES:
        await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    await hand.finalise(build)
    await retry(hand, build)
    await hand.capture_one(LOOK)
    assert (await hand.finalise(build)).state is BuildState.FAILED
    await retry(hand, build)
    await hand.capture_one(LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_shard_that_a_consumer_still_holds_is_counted_by_a_retry(hand: Hand) -> None:
    """Cancelled while it ran, then captured again with a plan that failed: the shard is open."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    held = await hand.claim(CAPTURE_LANE)
    await cancel_build(hand.db, hand.kinds, build.id, WHY)
    await capture_again(hand.db, build.id, "Ada")
    await hand.settle(await hand.claim("plan"), Failed("no browser"))
    cancelled = [s for s in await shards_of(hand, build) if s.state is ShardState.CANCELLED]
    await retry_shard(hand.db, build.id, cancelled[0].number, "Ada")
    assert (await hand.fresh(build)).open_shards == 2
    await hand.settle(held, STOPPED)
    await hand.capture_one(LOOK)
    assert await live_kinds(hand, build) == ["finalise"]


async def test_the_shard_of_a_build_that_did_not_fail_is_not_retried(hand: Hand) -> None:
    build = await broken(hand)
    with pytest.raises(NothingToRetryError, match="the build is broken"):
        await retry_shard(hand.db, build.id, 1, "Ada")


async def test_a_shard_that_is_done_is_not_retried(hand: Hand) -> None:
    build, _ = await half_failed(hand)
    (done,) = [s.number for s in await shards_of(hand, build) if s.state is ShardState.DONE]
    with pytest.raises(NothingToRetryError, match="it is done"):
        await retry_shard(hand.db, build.id, done, "Ada")


async def test_a_shard_that_does_not_exist_is_not_retried(hand: Hand) -> None:
    build, _ = await half_failed(hand)
    with pytest.raises(NoSuchShardError, match="build 1, shard 9"):
        await retry_shard(hand.db, build.id, 9, "Ada")


async def test_a_build_that_was_never_planned_has_no_shard_to_retry(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.settle(await hand.claim("plan"), Failed("no browser"))
    with pytest.raises(NoSuchShardError):
        await retry_shard(hand.db, build.id, 1, "Ada")


async def test_a_waiting_shard_that_is_cancelled_counts_as_failed(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), 1, "Ada")
    (shard,) = await shards_of(hand, build)
    assert (shard.state, shard.error) == (ShardState.CANCELLED, "cancelled: cancelled by Ada")
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_running_shard_that_is_cancelled_closes_when_it_has_stopped(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    lease = await hand.claim(CAPTURE_LANE)
    await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), 1, "Ada")
    assert await shard_states(hand, build) == [ShardState.OPEN]
    await hand.settle(lease, STOPPED)
    assert await shard_states(hand, build) == [ShardState.CANCELLED]
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_build_whose_shards_are_all_cancelled_fails(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    for number in (1, 2):
        await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), number, "Ada")
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_cancelled_shard_can_be_retried(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), 1, "Ada")
    await hand.finalise(build)
    await retry(hand, build)
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_shard_that_is_done_is_not_cancelled(hand: Hand) -> None:
    build = await hand.run(LOOK)
    await cancel_shard(hand.db, hand.kinds, build, 1, "Ada")
    assert await shard_states(hand, build) == [ShardState.DONE]
    assert await actions_of(hand, build) == []


async def test_a_shard_that_does_not_exist_is_not_cancelled(hand: Hand) -> None:
    build = await hand.run(LOOK)
    with pytest.raises(NoSuchShardError):
        await cancel_shard(hand.db, hand.kinds, build, 9, "Ada")
