"""A build that nobody needs is deleted with all that belongs to it."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy.exc import NoResultFound

from storyshelf.builds.build import Build, BuildGoneError, BuildState
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.jobs import parse_capture
from storyshelf.db.engine import Database
from storyshelf.deliveries.message import Check
from storyshelf.deliveries.wish import StatusWish, to_json
from storyshelf.operations.delete_build import BuildInUseError, Deletion, delete_build
from storyshelf.queue.job import Completed, LeaseLostError
from storyshelf.review.decide import decide_all
from storyshelf.snapshots.decision import Decision
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import actions_of, read, run, snapshots_of
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand
from tests.people import BEN

STORIES = ["a--one", "b--two"]
RED = dict.fromkeys(STORIES, "red")
BLUE = {**RED, "a--one": "blue"}
WHY = Deletion("Ada", "too many")
CONNECTION = """
INSERT INTO connections (project_id, kind, name, config, secret)
VALUES (:project, 'webhook', 'w', '{"url": "https://hook.example/"}', '')
"""
DELIVERY = """
INSERT INTO deliveries (connection_id, build_id, subject, wanted)
SELECT id, :build, 'status 1', CAST(:wanted AS jsonb) FROM connections
"""
STATUS = StatusWish("1", "UI Tests", Check.SUCCESS, "nothing changed", "/")
OF_BUILDS = ("bundle_files", "shards", "snapshots", "jobs", "jobs_done")


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def delete(hand: Hand, build: Build) -> None:
    await delete_build(hand.db, hand.kinds, build, WHY)


async def rows_of(hand: Hand, build: Build) -> dict[str, int]:
    """How many rows of each table are the build's."""
    counted = "SELECT count(*) FROM {} WHERE build_id = :id"
    return {
        table: (await read(hand, counted.format(table), id=build.id))[0]["count"]
        for table in OF_BUILDS
    }


async def test_everything_that_belongs_to_the_build_goes(hand: Hand) -> None:
    build = await hand.run(RED)
    assert 0 not in {**await rows_of(hand, build), "jobs": 1}.values()
    await delete(hand, build)
    assert await rows_of(hand, build) == dict.fromkeys(OF_BUILDS, 0)
    assert await read(hand, "SELECT id FROM builds") == []
    assert await read(hand, "SELECT job_id FROM job_attempts") == []


async def test_who_deleted_it_is_remembered(hand: Hand) -> None:
    build = await hand.run(RED)
    await delete(hand, build)
    assert ("Ada", "build.delete") in await actions_of(hand, build)


async def test_deleting_it_again_is_no_error(hand: Hand) -> None:
    build = await hand.run(RED)
    await delete(hand, build)
    await delete(hand, build)


async def test_a_build_that_others_are_compared_with_is_kept_and_they_are_named(
    hand: Hand,
) -> None:
    first = await hand.run(RED)
    await hand.run(BLUE)
    with pytest.raises(BuildInUseError, match="compared with it: 2 "):
        await delete(hand, first)
    assert (await hand.fresh(first)).state is BuildState.ACCEPTED


async def test_a_refused_deletion_does_not_stop_the_work(hand: Hand) -> None:
    first = await hand.run(RED)
    second = await hand.upload(STORIES)
    with pytest.raises(BuildInUseError, match="compared with it: 2"):
        await delete(hand, first)
    assert (await hand.fresh(second)).state is BuildState.QUEUED
    await delete(hand, second)
    await delete(hand, first)


async def test_pictures_that_stayed_the_same_do_not_need_their_baseline(hand: Hand) -> None:
    first, second = await hand.run(RED), await hand.run(RED)
    await delete(hand, first)
    fresh = await hand.fresh(second)
    assert (fresh.ancestor_build_id, fresh.deleted_ancestor) == (None, 1)
    rows = await snapshots_of(hand, second)
    assert {row["baseline_snapshot_id"] for row in rows.values()} == {None}
    assert all("build 1" in row["baseline_reason"] for row in rows.values())
    assert (await hand.run(RED)).state is BuildState.PASSED


async def test_what_a_build_hands_on_from_another_keeps_that_one(hand: Hand) -> None:
    first = await hand.run(RED)
    near = await hand.run({**RED, "a--one": "red~"})
    assert near.state is BuildState.PASSED  # within the tolerance: it hands on the first picture
    with pytest.raises(BuildInUseError):
        await delete(hand, first)


async def test_running_work_is_ended_and_brings_nothing(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    results = [await hand.shot(one, RED) for one in work.snapshots]
    await delete(hand, build)
    with pytest.raises(LeaseLostError):
        await hand.record(lease, work, results)
    assert await rows_of(hand, build) == dict.fromkeys(OF_BUILDS, 0)


async def test_a_build_that_one_is_just_planned_against_is_kept(hand: Hand) -> None:
    first, second = await hand.run(RED), await hand.run(RED)
    third = await hand.upload(STORIES)
    made = await hand.planned(third, STORIES)
    with pytest.raises(BuildInUseError, match=": 3 "):
        await delete(hand, second)
    lease = await hand.claim("plan")
    await hand.settle(lease, Completed(made))
    await hand.capture(third, RED)
    assert (await hand.finalise(third)).state is BuildState.PASSED
    await delete(hand, first)


async def test_who_comes_late_is_told_that_it_is_gone(hand: Hand) -> None:
    build = await hand.run(RED)
    await delete(hand, build)
    with pytest.raises(BuildGoneError):
        await decide_all(hand.db, build.id, Decision.ACCEPTED, BEN)
    with pytest.raises(BuildGoneError):
        await capture_again(hand.db, build.id, "Ben")


async def consume(hand: Hand, build: Build) -> None:
    """Take what shards there are, as a consumer that is cut off whenever the build goes."""
    gone = (LeaseLostError, BuildGoneError, NoResultFound)
    with suppress(*gone, ValueError):  # the last: there is nothing to claim any more
        while True:
            lease = await hand.claim(CAPTURE_LANE)
            await hand.shoot(lease, RED)
            await hand.settle(lease, Completed(None), parse_capture(lease.payload))


@pytest.mark.timeout(60)
async def test_nobody_waits_for_ever_while_captures_settle(hand: Hand) -> None:
    await hand.run(RED)
    for _ in range(5):
        build = await hand.upload(STORIES)
        await hand.plan(build, STORIES, shard_cost_ms=100)
        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(consume(hand, build))
                group.create_task(delete(hand, build))
        assert await rows_of(hand, build) == dict.fromkeys(OF_BUILDS, 0)


async def test_what_a_forge_is_to_be_told_outlives_the_build(hand: Hand) -> None:
    build = await hand.run(RED)
    await run(hand, CONNECTION, project=hand.project.id)
    await run(hand, DELIVERY, build=build.id, wanted=json.dumps(to_json(STATUS)))
    await delete(hand, build)
    (kept,) = await read(hand, "SELECT build_id, state FROM deliveries")
    assert (kept["build_id"], kept["state"]) == (None, "waiting")
