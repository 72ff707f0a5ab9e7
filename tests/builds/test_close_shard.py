"""Shards close once, and the last one starts the one finalise job of its build's generation."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest

from storyshelf.builds import shard_store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.close_shard import Closing, close, close_captured
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Tx
from storyshelf.ids import ShardId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Completed, Failed, Lease, LeaseLostError, Outcome
from storyshelf.queue.job_kind import Settled
from tests.builds.facts import (
    ended_jobs,
    live_jobs,
    live_kinds,
    run,
    shard_states,
    shards_of,
    verdicts_of,
)
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.db.waiting import someone_waits
from tests.queue.builders import let_leases_run_out

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)


class TakenBackError(Exception):
    """Ends a transaction whose effects are not wanted."""


async def two_shards(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return build


async def one_shard(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    return build


async def end(hand: Hand, lease: Lease) -> None:
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))


async def settle_in(tx: Tx, hand: Hand, leases: Sequence[Lease]) -> None:
    """Settle captures together in an open transaction, as the settler does."""
    await queue.settle(tx, [(lease, Completed(None)) for lease in leases])
    settled = [Settled(lease, parse_capture(lease.payload), None) for lease in leases]
    apply = hand.kind("capture").apply
    assert apply is not None
    await apply(tx, settled)


async def test_a_build_waits_for_its_last_shard(hand: Hand) -> None:
    build = await two_shards(hand)
    await hand.capture_one(LOOK)
    assert (await hand.fresh(build)).open_shards == 1
    assert await live_kinds(hand, build) == ["capture"]


async def test_the_last_shard_starts_the_one_finalise_job(hand: Hand) -> None:
    build = await two_shards(hand)
    await hand.capture(build, LOOK)
    (job,) = await live_jobs(hand, build)
    assert (job["kind"], job["id"]) == ("finalise", (await hand.fresh(build)).finalise_job_id)


async def test_two_shards_that_close_together_start_one_finalise_job(hand: Hand) -> None:
    build = await two_shards(hand)
    leases = [await hand.claim(CAPTURE_LANE) for _ in STORIES]
    for lease in leases:
        await hand.shoot(lease, LOOK)
    async with hand.db.transaction() as tx:
        await settle_in(tx, hand, leases)
    assert await live_kinds(hand, build) == ["finalise"]


async def test_the_last_two_shards_closing_at_once_start_one_finalise_job(hand: Hand) -> None:
    build = await two_shards(hand)
    first, second = [await hand.claim(CAPTURE_LANE) for _ in STORIES]
    for lease in (first, second):
        await hand.shoot(lease, LOOK)
    async with asyncio.TaskGroup() as group, hand.db.transaction() as tx:
        await settle_in(tx, hand, [first])
        closing = group.create_task(end(hand, second))
        await someone_waits(hand.db)  # the second one, for the build's row
        assert not closing.done()
    assert await live_kinds(hand, build) == ["finalise"]
    assert (await hand.fresh(build)).open_shards == 0


async def test_a_close_that_is_taken_back_leaves_the_count_to_the_other(hand: Hand) -> None:
    build = await two_shards(hand)
    first, second = [await hand.claim(CAPTURE_LANE) for _ in STORIES]
    for lease in (first, second):
        await hand.shoot(lease, LOOK)
    with suppress(TakenBackError):
        async with hand.db.transaction() as tx:
            await settle_in(tx, hand, [first])
            raise TakenBackError
    await end(hand, second)
    assert await live_kinds(hand, build) == ["capture"]
    await end(hand, first)
    assert await live_kinds(hand, build) == ["finalise"]


async def test_a_shard_that_is_closed_twice_counts_once(hand: Hand) -> None:
    build = await two_shards(hand)
    await hand.capture_one(LOOK)
    done = [shard.id for shard in await shards_of(hand, build) if shard.state is ShardState.DONE]
    async with hand.db.transaction() as tx:
        await close_captured(tx, done)
        await close(tx, [Closing(shard_id, ShardState.FAILED, "late") for shard_id in done])
    assert (await hand.fresh(build)).open_shards == 1
    assert sorted(await shard_states(hand, build)) == [ShardState.DONE, ShardState.OPEN]


async def test_one_shard_closed_by_two_at_once_counts_once(hand: Hand) -> None:
    build = await two_shards(hand)
    shard = (await shards_of(hand, build))[0]
    failed = [Closing(shard.id, ShardState.FAILED, "boom")]

    async def also() -> None:
        async with hand.db.transaction() as tx:
            await close(tx, failed)

    async with asyncio.TaskGroup() as group, hand.db.transaction() as tx:
        await close(tx, failed)
        group.create_task(also())
        await someone_waits(hand.db)
    assert (await hand.fresh(build)).open_shards == 1


async def test_a_shard_says_why_it_failed(hand: Hand) -> None:
    build = await one_shard(hand)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("out of memory", Outcome.CRASHED))
    (shard,) = await shards_of(hand, build)
    assert (shard.state, shard.error) == (ShardState.FAILED, "crashed: out of memory")


async def test_a_shard_with_snapshots_still_planned_goes_round_again(hand: Hand) -> None:
    build = await one_shard(hand)
    await hand.capture_one({"a--one": "red"})
    assert await shard_states(hand, build) == [ShardState.OPEN]
    (job,) = await live_jobs(hand, build)
    assert (job["kind"], job["state"], job["charged"]) == ("capture", "queued", 0)
    (shard,) = await shards_of(hand, build)
    assert shard.job_id == job["id"]


async def test_a_new_round_renders_only_what_is_missing(hand: Hand) -> None:
    build = await one_shard(hand)
    await hand.capture_one({"a--one": "red"})
    work = await hand.work_of(await hand.claim(CAPTURE_LANE))
    assert [snapshot.key.story_id for snapshot in work.snapshots] == ["b--one"]
    assert set((await verdicts_of(hand, build)).values()) == {"added", "planned"}


async def test_a_shard_that_brings_nothing_in_three_rounds_fails(hand: Hand) -> None:
    build = await one_shard(hand)
    for _ in range(3):
        await hand.capture_one({})
    (shard,) = await shards_of(hand, build)
    assert shard.state is ShardState.FAILED
    assert shard.error == "3 rounds brought no new result"
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_round_with_a_result_lets_a_shard_have_three_more(hand: Hand) -> None:
    build = await one_shard(hand)
    for look in ({}, {}, {"a--one": "red"}, {}):
        await hand.capture_one(look)
    assert await shard_states(hand, build) == [ShardState.OPEN]
    await hand.capture_one(LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_shard_that_ends_while_another_goes_round_does_not_end_the_build(
    hand: Hand,
) -> None:
    build = await two_shards(hand)
    leases = [await hand.claim(CAPTURE_LANE) for _ in STORIES]
    for lease in leases:
        await hand.shoot(lease, {"a--one": "red"})
    async with hand.db.transaction() as tx:
        await settle_in(tx, hand, leases)
    assert sorted(await shard_states(hand, build)) == [ShardState.DONE, ShardState.OPEN]
    assert await live_kinds(hand, build) == ["capture"]


async def test_a_capture_whose_lease_went_to_another_settles_nothing(hand: Hand) -> None:
    build = await one_shard(hand)
    lost = await hand.claim(CAPTURE_LANE)
    await let_leases_run_out(hand.db)
    held = await hand.claim(CAPTURE_LANE)
    async with hand.db.transaction() as tx:
        assert await queue.settle(tx, [(lost, Completed(None))]) == ()
    await hand.shoot(held, LOOK)
    await end(hand, held)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_capture_whose_lease_went_to_another_writes_nothing(hand: Hand) -> None:
    build = await one_shard(hand)
    lost = await hand.claim(CAPTURE_LANE)
    await let_leases_run_out(hand.db)
    await hand.claim(CAPTURE_LANE)
    with pytest.raises(LeaseLostError):
        await hand.shoot(lost, LOOK)
    assert set((await verdicts_of(hand, build)).values()) == {"planned"}


async def test_a_shard_of_an_older_generation_closes_and_counts_nothing(hand: Hand) -> None:
    build = await one_shard(hand)
    (shard,) = await shards_of(hand, build)
    await run(hand, "UPDATE builds SET generation = 2")
    async with hand.db.transaction() as tx:
        await close(tx, [Closing(shard.id, ShardState.FAILED, "late")])
    assert await shard_states(hand, build) == [ShardState.FAILED]
    assert (await hand.fresh(build)).open_shards == 1
    assert "finalise" not in await live_kinds(hand, build)


async def test_a_build_of_many_shards_settled_by_many_at_once_is_finalised_once(
    hand: Hand,
) -> None:
    stories = [f"c{n:02}--x" for n in range(12)]
    build = await hand.upload(stories)
    await hand.plan(build, stories, shard_cost_ms=100)
    leases = [await hand.claim(CAPTURE_LANE) for _ in stories]
    look = dict.fromkeys(stories, "red")

    async def consume(lease: Lease) -> None:
        await hand.shoot(lease, look)
        await end(hand, lease)

    async with asyncio.TaskGroup() as group:
        for lease in leases:
            group.create_task(consume(lease))
    assert await live_kinds(hand, build) == ["finalise"]
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED
    assert (await ended_jobs(hand, build)).count(("finalise", "completed")) == 1


async def test_a_job_that_no_shard_names_closes_none(hand: Hand) -> None:
    await one_shard(hand)
    async with hand.db.transaction() as tx:
        assert await shard_store.of_jobs(tx, []) == []
        await close(tx, [Closing(ShardId(99), ShardState.FAILED, "nobody's")])
