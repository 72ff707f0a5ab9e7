"""Builds that nothing moves on are mended, with an alarm that stays silent in a sound system."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.capture_again import cancel_shard, capture_again, retry_shard
from storyshelf.builds.jobs import parse_capture
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId
from storyshelf.operations import alarm_store, audit_pass
from storyshelf.operations.audit_pass import Audit
from storyshelf.queue.job import Completed, Failed
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import live_kinds, read, run
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand

STORIES = ["a--one", "b--one"]
LOOK = dict.fromkeys(STORIES, "red")
LONG_AGO = """
UPDATE builds SET planned_at = planned_at - interval '1 hour',
    sealed_at = sealed_at - interval '1 hour'
"""


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def alarms(hand: Hand) -> Mapping[str, int]:
    async with hand.db.transaction() as tx:
        return {each.name: each.count for each in await alarm_store.alarms(tx)}


async def repaired(hand: Hand) -> int:
    """How many builds an audit of an hour later mends."""
    await run(hand, LONG_AGO)
    return await Audit(hand.db).run_once()


async def capturing(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return build


async def finished(hand: Hand, build: Build) -> BuildState:
    """Do what is left of the build."""
    await hand.capture(build, LOOK)
    return (await hand.finalise(build)).state


async def test_a_build_that_goes_well_is_sound_at_every_step(hand: Hand) -> None:
    found = [await repaired(hand)]
    build = await hand.open(STORIES)
    found.append(await repaired(hand))
    await hand.cancel(build)
    build = await hand.upload(STORIES)
    found.append(await repaired(hand))
    plan = await hand.claim("plan")
    made = await hand.planned(build, STORIES, shard_cost_ms=100)
    found.append(await repaired(hand))
    await hand.settle(plan, Completed(made))
    for _ in STORIES:
        lease = await hand.claim(CAPTURE_LANE)
        found.append(await repaired(hand))
        await hand.shoot(lease, LOOK)
        await hand.settle(lease, Completed(None), parse_capture(lease.payload))
        found.append(await repaired(hand))
    lease = await hand.claim("build")
    found.append(await repaired(hand))
    await hand.end_finalise(lease)
    found.append(await repaired(hand))
    assert (sum(found), await alarms(hand)) == (0, {})


async def test_a_build_that_goes_badly_is_sound_too(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    held = await hand.claim(CAPTURE_LANE)
    await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), 2, "Ada")
    found = [await repaired(hand)]
    await hand.settle(held, Failed("boom"))
    found.append(await repaired(hand))
    await hand.finalise(build)
    await retry_shard(hand.db, build.id, 1, "Ada")
    found.append(await repaired(hand))
    await retry_shard(hand.db, build.id, 2, "Ada")
    found.append(await repaired(hand))
    await hand.cancel(build)
    found.append(await repaired(hand))
    await capture_again(hand.db, build.id, "Ada")
    await sweep_cancelled(hand.db, hand.kinds)
    found.append(await repaired(hand))
    await hand.settle(await hand.claim("plan"), Failed("no browser"))
    found.append(await repaired(hand))
    assert (sum(found), await alarms(hand)) == (0, {})


async def test_a_build_with_nothing_to_render_is_sound(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    skipped = {story: {"disableSnapshot": True} for story in STORIES}
    await hand.plan(build, STORIES, skipped)
    assert await repaired(hand) == 0
    await hand.finalise(build)
    assert (await repaired(hand), await alarms(hand)) == (0, {})


@pytest.mark.parametrize("wrong", [1, 3, 0], ids=["too few", "too many", "none"])
async def test_a_counter_that_is_wrong_is_set_right(hand: Hand, wrong: int) -> None:
    build = await capturing(hand)
    await run(hand, f"UPDATE builds SET open_shards = {wrong}")
    assert await repaired(hand) == 1
    assert (await hand.fresh(build)).open_shards == 2
    assert await finished(hand, build) is BuildState.ACCEPTED
    assert await alarms(hand) == {audit_pass.ALARM: 1}


async def closed_in_silence(hand: Hand) -> Build:
    """A build whose shards are all done, and which nobody was told of."""
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    await run(hand, "DELETE FROM jobs WHERE kind = 'finalise'")
    return build


@pytest.mark.parametrize("damage", ["finalise_job_id = NULL", "rule = rule", "open_shards = 1"])
async def test_a_build_that_nobody_finalises_is_finalised(hand: Hand, damage: str) -> None:
    build = await closed_in_silence(hand)
    await run(hand, f"UPDATE builds SET {damage}")
    assert await repaired(hand) == 1
    assert await live_kinds(hand, build) == ["finalise"]
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_a_finalise_job_that_the_build_lost_sight_of_is_its_own_again(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    job_id = (await hand.fresh(build)).finalise_job_id
    await run(hand, "UPDATE builds SET finalise_job_id = NULL")
    assert await repaired(hand) == 1
    assert (await hand.fresh(build)).finalise_job_id == job_id
    assert await live_kinds(hand, build) == ["finalise"]


@pytest.mark.parametrize("state", ["queued", "planning"])
async def test_a_build_without_a_plan_job_gets_one(hand: Hand, state: str) -> None:
    build = await hand.upload(STORIES)
    await run(hand, f"UPDATE builds SET state = '{state}'")
    await run(hand, "DELETE FROM jobs")
    assert await repaired(hand) == 1
    assert await live_kinds(hand, build) == ["plan"]
    await run(hand, "UPDATE builds SET state = 'queued'")
    await hand.plan(build, STORIES)
    assert await finished(hand, build) is BuildState.ACCEPTED


async def test_what_a_build_was_mended_of_is_told(hand: Hand) -> None:
    build = await capturing(hand)
    await run(hand, "UPDATE builds SET open_shards = 5")
    await repaired(hand)
    async with hand.db.transaction() as tx:
        (alarm,) = await alarm_store.alarms(tx)
    assert alarm.detail["build"] == build.number
    assert alarm.detail["problem"] == "it waited for 5 shards, of which 2 were open"


async def test_a_build_of_this_minute_is_left_alone(hand: Hand) -> None:
    await capturing(hand)
    await run(hand, "UPDATE builds SET open_shards = 5")
    assert await Audit(hand.db).run_once() == 0


async def test_a_build_that_ended_is_left_alone(hand: Hand) -> None:
    await hand.cancel(await capturing(hand))
    await run(hand, "UPDATE builds SET open_shards = 5")
    assert await repaired(hand) == 0


async def test_two_audits_at_once_mend_a_build_once(hand: Hand) -> None:
    build = await closed_in_silence(hand)
    await run(hand, LONG_AGO)
    async with asyncio.TaskGroup() as group:
        both = [group.create_task(Audit(hand.db).run_once()) for _ in "12"]
    assert sum([one.result() for one in both]) == 1
    assert await live_kinds(hand, build) == ["finalise"]


async def test_every_damaged_build_is_found_however_many_there_are(hand: Hand) -> None:
    builds = [await hand.upload(STORIES) for _ in range(3)]
    await run(hand, "DELETE FROM jobs")
    await run(hand, LONG_AGO)
    assert await Audit(hand.db, at_once=2).run_once() == len(builds)
    plans = await read(hand, "SELECT build_id FROM jobs ORDER BY 1")
    assert [BuildId(row["build_id"]) for row in plans] == [build.id for build in builds]


async def test_with_many_builds_under_way_a_pass_goes_on_where_the_last_one_stopped(
    hand: Hand,
) -> None:
    for _ in range(5):
        await hand.upload(STORIES)
    await run(hand, "UPDATE builds SET created_at = '2030-01-01'")  # only their ids tell them apart
    await run(hand, "DELETE FROM jobs")
    await run(hand, LONG_AGO)
    audit = Audit(hand.db, at_once=2, pages=1)
    assert [await audit.run_once() for _ in range(4)] == [2, 2, 1, 0]
    await run(hand, "DELETE FROM jobs")
    await run(hand, LONG_AGO)
    assert [await audit.run_once() for _ in range(3)] == [2, 1, 2]


async def test_a_build_that_cannot_be_mended_keeps_no_other_from_its_turn(hand: Hand) -> None:
    hopeless, other = await hand.upload(STORIES), await hand.upload(STORIES)
    await run(hand, f"DELETE FROM jobs WHERE build_id = {other.id}")
    await run(hand, "UPDATE jobs SET build_id = NULL")  # it is not found, and keeps out another
    await run(hand, "UPDATE builds SET plan_job_id = NULL")
    await run(hand, LONG_AGO)
    with capture_logs() as lines:
        assert await Audit(hand.db).run_once() == 1
    assert [line["build"] for line in lines if line["event"] == "build.unmendable"] == [hopeless.id]
