"""What ends a shard or a build without success may run twice, or after everything is over."""

import asyncio

import pytest

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.shard_store import ShardState
from storyshelf.queue.job import Completed, EndedJob, Failed, Lease, Outcome
from tests.builds.facts import live_kinds, read, shard_states, shards_of
from tests.builds.hand import CAPTURE_LANE, Hand

LOOK = {"a--one": "red", "b--two": "blue"}
STORIES = sorted(LOOK)
CRASHED = Failed("its browsers kept dying", Outcome.CRASHED)


async def two_shards(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return build


def ended(lease: Lease) -> EndedJob:
    return EndedJob(
        lease.job_id,
        lease.kind,
        lease.payload,
        lease.project_id,
        lease.build_id,
        lease.generation,
    )


async def tell(hand: Hand, lease: Lease, outcome: Outcome = Outcome.CRASHED) -> None:
    """Run the terminal path of a job in a transaction of its own, whatever became of the job."""
    async with hand.db.transaction() as tx:
        await hand.kinds.ended(tx, [ended(lease)], outcome, "its browsers kept dying")


async def test_a_crashed_shard_closes_its_attempts_and_is_reported_by_the_build(
    hand: Hand,
) -> None:
    build = await two_shards(hand)
    await hand.settle(await hand.claim(CAPTURE_LANE), CRASHED)
    await hand.capture_one(LOOK)
    assert (await hand.finalise(build)).state is BuildState.FAILED
    assert sorted(await shard_states(hand, build)) == [ShardState.DONE, ShardState.FAILED]
    attempts = await read(hand, "SELECT outcome, error FROM job_attempts ORDER BY 1")
    assert attempts[0] == {"outcome": "completed", "error": None}
    assert {"outcome": "crashed", "error": "its browsers kept dying"} in attempts
    assert await live_kinds(hand, build) == []


async def test_a_shard_whose_end_is_told_twice_counts_once(hand: Hand) -> None:
    build = await two_shards(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await hand.settle(lease, CRASHED)
    await tell(hand, lease)
    assert (await hand.fresh(build)).open_shards == 1
    assert await live_kinds(hand, build) == ["capture"]


async def test_a_shard_whose_end_is_told_by_two_at_once_counts_once(hand: Hand) -> None:
    build = await two_shards(hand)
    lease = await hand.claim(CAPTURE_LANE)
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(tell(hand, lease))
    assert (await hand.fresh(build)).open_shards == 1


async def test_the_last_shard_told_twice_starts_one_finalise_job(hand: Hand) -> None:
    build = await two_shards(hand)
    await hand.capture_one(LOOK)
    lease = await hand.claim(CAPTURE_LANE)
    await hand.settle(lease, CRASHED)
    await tell(hand, lease)
    assert await live_kinds(hand, build) == ["finalise"]


async def test_an_end_told_after_the_shard_was_captured_changes_nothing(hand: Hand) -> None:
    build = await two_shards(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await hand.shoot(lease, LOOK)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    await tell(hand, lease)
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.FAILED, Outcome.CANCELLED])
async def test_an_end_told_after_the_build_has_ended_changes_nothing(
    hand: Hand, outcome: Outcome
) -> None:
    build = await two_shards(hand)
    leases = [await hand.claim(CAPTURE_LANE) for _ in range(2)]
    for lease in leases:
        await hand.shoot(lease, LOOK)
        await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    done = await hand.finalise(build)
    shards = await shards_of(hand, build)
    for lease in leases:
        await tell(hand, lease, outcome)
    assert (await hand.fresh(build), await shards_of(hand, build)) == (done, shards)


async def test_an_end_told_after_the_build_was_cancelled_changes_nothing(hand: Hand) -> None:
    build = await two_shards(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await hand.cancel(build)
    cancelled = await hand.fresh(build)
    await tell(hand, lease)
    assert await hand.fresh(build) == cancelled
    assert cancelled.state is BuildState.CANCELLED


async def test_an_end_told_after_the_build_is_captured_again_counts_nothing(hand: Hand) -> None:
    build = await two_shards(hand)
    stale = await hand.claim(CAPTURE_LANE)
    await hand.cancel(build)
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await tell(hand, stale)
    assert (await hand.fresh(build)).open_shards == 2


async def test_a_plan_whose_end_is_told_twice_or_late_ends_its_build_once(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    lease = await hand.claim("plan")
    await hand.settle(lease, Failed("its browsers kept dying", Outcome.CRASHED))
    first = await hand.fresh(build)
    await tell(hand, lease)
    assert await hand.fresh(build) == first
    assert first.state_reason == "its plan job crashed: its browsers kept dying"
