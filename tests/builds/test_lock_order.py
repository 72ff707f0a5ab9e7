"""Everybody locks jobs, shards, builds, snapshots, then lanes, so nobody waits for ever.

A deadlock would end one of the two with PostgreSQL's own error, which nothing here forgives.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import cycle, islice
from typing import Any

import pytest

from storyshelf.builds import shard_store
from storyshelf.builds.build import Build, BuildMovedError, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build, sweep_cancelled
from storyshelf.builds.capture_again import cancel_shard, retry_shard
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.mend_build import mend
from storyshelf.builds.sample_progress import sample_progress
from storyshelf.builds.shard_store import ShardState
from storyshelf.queue.expiry import end_overdue
from storyshelf.queue.job import Completed, Failed, Lease
from storyshelf.review.decide import decide_all
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.decision import Decision
from tests.builds.facts import live_jobs, run, shard_states, shards_of
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.db.waiting import someone_waits
from tests.people import BEN

STORIES = [f"c{n}--x" for n in range(6)]
LOOK = dict.fromkeys(STORIES, "red")
WHY = Cancel("Ada", "not needed")
Act = Callable[[Hand, Build], Coroutine[Any, Any, None]]


async def capturing(hand: Hand) -> tuple[Build, list[Lease]]:
    """A build with a claimed shard for each story."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return build, [await hand.claim(CAPTURE_LANE) for _ in STORIES]


async def consume(hand: Hand, lease: Lease) -> None:
    await hand.shoot(lease, LOOK)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))


async def cancel(hand: Hand, build: Build) -> None:
    with suppress(BuildMovedError):
        await cancel_build(hand.db, hand.kinds, build.id, WHY)


async def decide(hand: Hand, build: Build) -> None:
    for decision in islice(cycle([Decision.ACCEPTED, Decision.DENIED]), 4):
        await decide_all(hand.db, build.id, decision, BEN)


async def cancel_shards(hand: Hand, build: Build) -> None:
    fresh = await hand.fresh(build)
    for number in range(1, len(STORIES) + 1):
        await cancel_shard(hand.db, hand.kinds, fresh, number, "Ada")


async def keep_house(hand: Hand, build: Build) -> None:
    for _ in range(4):
        await sweep_cancelled(hand.db, hand.kinds)
        await end_overdue(hand.db, hand.kinds)


async def keep_watch(hand: Hand, build: Build) -> None:
    """What the leader does, and finds nothing to do."""
    for _ in range(4):
        await run(hand, "UPDATE build_progress SET next_sample_at = now()")
        assert await sample_progress(hand.db) == 0
        async with hand.db.transaction() as tx:
            assert await mend(tx, build.id) is None


@pytest.mark.parametrize(
    "acts",
    [
        (keep_watch,),
        (keep_watch, cancel, decide, keep_house),
        (cancel, decide),
        (cancel, cancel_shards, keep_house),
        (decide, cancel_shards, keep_house),
        (cancel, cancel, decide, keep_house),
    ],
    ids=lambda acts: "-".join(act.__name__ for act in acts),
)
async def test_captures_settle_while_people_cancel_and_decide(
    hand: Hand, acts: tuple[Act, ...]
) -> None:
    await hand.run(LOOK)
    for _ in range(3):
        build, leases = await capturing(hand)
        async with asyncio.TaskGroup() as group:
            for lease in leases:
                group.create_task(consume(hand, lease))
            for act in acts:
                group.create_task(act(hand, build))
        await all_is_over(hand, build)


async def test_failed_shards_are_retried_while_the_others_close(hand: Hand) -> None:
    build, (last, *leases) = await capturing(hand)
    for lease in leases[:2]:
        await hand.settle(lease, Failed("boom"))
    fresh = await shards_of(hand, build)
    failed = [shard.number for shard in fresh if shard.state is ShardState.FAILED]
    async with asyncio.TaskGroup() as group:
        for number in failed:
            group.create_task(retry_shard(hand.db, build.id, number, "Ada"))
        for lease in leases[2:]:
            group.create_task(consume(hand, lease))
    await consume(hand, last)
    assert (await hand.fresh(build)).open_shards == len(failed) == 2
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def all_is_over(hand: Hand, build: Build) -> None:
    """Nothing of the build is left open; only its end may still have to be written."""
    assert {state.value for state in await shard_states(hand, build)} == {"done"}
    live = [job["kind"] for job in await live_jobs(hand, build)]
    if (await hand.fresh(build)).state is BuildState.CANCELLED:
        assert live == []
        return
    assert live == ["finalise"]
    assert (await hand.finalise(build)).state is BuildState.PASSED


async def test_results_take_the_shard_before_the_snapshots_as_a_retry_does(hand: Hand) -> None:
    build, (lease, *_) = await capturing(hand)
    async with asyncio.TaskGroup() as group, hand.db.transaction() as tx:
        await shard_store.lock_all(tx, build.id)
        recording = group.create_task(hand.shoot(lease, LOOK))
        await someone_waits(hand.db)
        await snapshots.carry_over(tx, build.id, 1, 2)
        assert not recording.done()
