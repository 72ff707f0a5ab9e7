"""How builds move is sampled, and shards that the queue has lost are sent out again."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from storyshelf.builds import progress_store, sample_progress, shard_store
from storyshelf.builds import store as builds
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.progress_store import Sample
from storyshelf.builds.sample_progress import Lost
from storyshelf.ids import BuildId
from storyshelf.queue.job import Completed
from storyshelf.shards.eta import Eta
from tests.builds.facts import live_jobs, read, run, shards_of
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.db.waiting import someone_waits

STORIES = ["a--one", "b--one", "c--one", "d--one"]
LOOK = dict.fromkeys(STORIES, "red")
PROGRESS = "SELECT * FROM build_progress WHERE build_id = :id"
MAKE_DUE = "UPDATE build_progress SET next_sample_at = now()"
AGE = "UPDATE build_progress SET dispatched_at = now() - interval '61 seconds'"
LOSE = "DELETE FROM jobs WHERE kind = 'capture'"


async def capturing(hand: Hand) -> Build:
    """A build of four shards of which none is begun."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return await hand.fresh(build)


async def sample(hand: Hand) -> int:
    await run(hand, MAKE_DUE)
    return await sample_progress.sample_progress(hand.db)


async def row_of(hand: Hand, build: Build) -> Mapping[str, Any]:
    (row,) = await read(hand, PROGRESS, id=build.id)
    return row


async def shown(hand: Hand, build: Build) -> Sample | None:
    async with hand.db.transaction() as tx:
        return await progress_store.sample_of(tx, build.id, build.generation)


async def wait_of(hand: Hand, build: Build) -> timedelta:
    row = await row_of(hand, build)
    wait = row["next_sample_at"] - row["sampled_at"]
    assert isinstance(wait, timedelta)
    return wait


async def test_a_sample_counts_what_is_left_what_runs_and_what_was_never_begun(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture_one(LOOK)
    await hand.claim(CAPTURE_LANE)
    await sample(hand)
    row = await row_of(hand, build)
    assert (row["remaining"], row["running"], row["never_started"]) == (3, 1, 2)


async def test_a_shard_whose_lease_ran_out_does_not_run_but_was_begun(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    await run(hand, "UPDATE jobs SET lease_expires_at = now() WHERE state = 'running'")
    await sample(hand)
    row = await row_of(hand, build)
    assert (row["running"], row["never_started"]) == (0, 3)


async def test_completions_give_a_rate_and_a_time_with_a_range(hand: Hand) -> None:
    build = await capturing(hand)
    for _ in range(2):
        await hand.capture_one(LOOK)
    await run(
        hand,
        "UPDATE snapshots SET captured_at = now() - interval '1 s' * (10 * id % 40)"
        " WHERE captured_at IS NOT NULL",
    )
    await hand.claim(CAPTURE_LANE)
    await sample(hand)
    found = await shown(hand, build)
    assert found is not None
    assert found.eta is not None
    assert found.eta.low_s < found.eta.likely_s < found.eta.high_s


async def test_before_the_first_completion_the_last_build_tells_how_long_it_takes(
    hand: Hand,
) -> None:
    await hand.run(LOOK)
    await run(hand, "UPDATE snapshots SET duration_ms = 2000")
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    await sample(hand)
    found = await shown(hand, build)
    assert found is not None
    assert found.eta == Eta(rate_per_s=0.5, low_s=8.0, likely_s=8.0, high_s=8.0)
    assert await wait_of(hand, build) == timedelta(seconds=2)


async def test_a_first_build_has_no_past_and_so_no_time_before_it_completes_something(
    hand: Hand,
) -> None:
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    await sample(hand)
    found = await shown(hand, build)
    assert found is not None
    assert found.eta is None


async def test_a_build_that_only_waits_is_sampled_ever_more_seldom(hand: Hand) -> None:
    build = await capturing(hand)
    waits = []
    for _ in range(3):
        await sample_progress.sample_progress(hand.db)
        waits.append((await wait_of(hand, build)).total_seconds())
        await run(hand, "UPDATE build_progress SET sampled_at = sampled_at - interval '1 hour',"
                        " next_sample_at = next_sample_at - interval '1 hour'")  # fmt: skip
    assert waits == [2, 4, 8]


async def test_a_build_whose_turn_came_late_is_sampled_with_its_first_results(hand: Hand) -> None:
    build = await capturing(hand)
    await sample(hand)
    far_off = "UPDATE build_progress SET next_sample_at = now() + interval '30 s', sampled_at = "
    await run(hand, f"{far_off} now() - interval '15 s'")
    await sample_progress.sample_progress(hand.db)
    assert (await row_of(hand, build))["remaining"] == len(STORIES)  # nothing has come of it
    await hand.capture_one(LOOK)
    await sample_progress.sample_progress(hand.db)
    assert (await row_of(hand, build))["remaining"] == len(STORIES) - 1
    await hand.capture_one(LOOK)
    await run(hand, "UPDATE build_progress SET next_sample_at = now() + interval '30 s'")
    await sample_progress.sample_progress(hand.db)
    assert (await row_of(hand, build))["remaining"] == len(STORIES) - 1  # two seconds are kept to


async def test_a_build_is_sampled_no_sooner_than_it_is_due(hand: Hand) -> None:
    build = await capturing(hand)
    await sample(hand)
    first = await row_of(hand, build)
    await sample_progress.sample_progress(hand.db)
    assert await row_of(hand, build) == first


async def test_a_page_reads_no_sample_of_another_generation(hand: Hand) -> None:
    build = await capturing(hand)
    await sample(hand)
    async with hand.db.transaction() as tx:
        assert await progress_store.sample_of(tx, build.id, build.generation + 1) is None


async def test_the_samples_of_builds_that_ended_are_forgotten(hand: Hand) -> None:
    build = await capturing(hand)
    await sample(hand)
    await hand.capture(build, LOOK)
    await hand.finalise(build)
    await sample(hand)
    assert await read(hand, PROGRESS, id=build.id) == []


async def test_a_build_whose_row_somebody_holds_is_sampled_later_and_not_waited_for(
    hand: Hand,
) -> None:
    build = await capturing(hand)
    async with hand.db.transaction() as tx:
        await builds.lock(tx, build.id)
        await sample(hand)
    assert await read(hand, PROGRESS, id=build.id) == []
    await sample(hand)
    assert (await row_of(hand, build))["remaining"] == len(STORIES)


async def test_a_shard_without_a_job_is_sent_out_again(hand: Hand) -> None:
    build = await capturing(hand)
    await run(hand, LOSE)
    assert await sample(hand) == 0  # one sample says nothing
    assert await sample(hand) == len(STORIES)
    jobs = {job["id"] for job in await live_jobs(hand, build)}
    assert {shard.job_id for shard in await shards_of(hand, build)} == jobs
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_lost_shards_are_sent_out_once_a_window(hand: Hand) -> None:
    await capturing(hand)
    await run(hand, LOSE)
    await sample(hand)
    await sample(hand)
    await run(hand, LOSE)
    assert await sample(hand) == 0
    await run(hand, AGE)
    assert await sample(hand) == len(STORIES)


async def test_nothing_is_sent_out_while_shards_are_begun(hand: Hand) -> None:
    await capturing(hand)
    await sample(hand)
    await run(hand, f"{LOSE} AND id = (SELECT max(id) FROM jobs)")
    for _ in range(3):
        await hand.claim(CAPTURE_LANE)
        assert await sample(hand) == 0
    assert await sample(hand) == 1


async def test_a_healthy_build_is_never_sent_out_again(hand: Hand) -> None:
    build = await capturing(hand)
    for _ in STORIES:
        assert [await sample(hand), await sample(hand)] == [0, 0]
        lease = await hand.claim(CAPTURE_LANE)
        assert [await sample(hand), await sample(hand)] == [0, 0]
        await hand.shoot(lease, LOOK)
        await hand.settle(lease, Completed(None), hand.kind("capture").parse(lease.payload))
    assert await sample(hand) == 0
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_what_is_lost_is_looked_at_again_under_the_locks(hand: Hand) -> None:
    build = await capturing(hand)
    shards = [shard.id for shard in await shards_of(hand, build)]
    lost = Lost(build.id, build.generation, shards)
    assert await sample_progress.redispatch(hand.db, lost) == 0  # their jobs are all there
    await run(hand, LOSE)
    await hand.cancel(build)
    assert await sample_progress.redispatch(hand.db, lost) == 0


async def test_two_that_send_out_the_same_shards_make_one_job_of_each(hand: Hand) -> None:
    build = await capturing(hand)
    shards = [shard.id for shard in await shards_of(hand, build)]
    await run(hand, LOSE)
    lost = Lost(build.id, build.generation, shards)
    async with asyncio.TaskGroup() as group:
        async with hand.db.transaction() as tx:
            await shard_store.lock_all(tx, build.id)
            both = [group.create_task(sample_progress.redispatch(hand.db, lost)) for _ in "12"]
            await someone_waits(hand.db)
        assert sum([await one for one in both]) == len(STORIES)
    assert len(await live_jobs(hand, build)) == len(STORIES)


async def test_a_build_that_was_deleted_meanwhile_has_nothing_to_send_out(hand: Hand) -> None:
    lost = Lost(BuildId(10**9), 1, ())
    assert await sample_progress.redispatch(hand.db, lost) == 0
