"""A bundle that kills whoever loads it ends its build, which says what happened."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from consumer.death import Cause, ChildDiedError, Death
from consumer.environment import Environment
from consumer.kinds.plan import PlanHandler, PlanLimits
from consumer.lending import Lender
from consumer.messages import StoryWarning, WarningCode
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import parse_plan
from storyshelf.builds.plan_build import Plan
from storyshelf.db.engine import Database
from storyshelf.ids import StoryId
from storyshelf.queue.job import Completed, Crashed, Ending, Failed, Lease
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import ended_jobs, run
from tests.builds.hand import ENVIRONMENT, Hand, a_hand, index_of
from tests.consumer.mortal import FencedWork, Mortals, claimed_when_due

STORIES = ["a--one"]
NO_JSON = """
UPDATE bundle_files SET (key, size_bytes) = (
    SELECT key, size_bytes FROM bundle_files WHERE path = 'iframe.html'
) WHERE path = 'index.json'
"""
FULL = Cause(Death.OUT_OF_MEMORY, "2100 MiB in use, over the ceiling of 2048 MiB")


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def planned_with(hand: Hand, lease: Lease, mortals: Mortals) -> Plan | Ending | None:
    handler = PlanHandler(
        hand.db,
        hand.blobs,
        cast("Lender", mortals),
        Environment(ENVIRONMENT, {}),
        PlanLimits(read_timeout_ms=1_000, shard_cost_ms=60_000, slots=1),
    )
    return await handler(FencedWork(hand.db, lease), parse_plan(lease.payload))


def deadly(times: int, cause: Cause = FULL) -> Mortals:
    return Mortals({}, Counter({"bundle": times}), cause=cause)


async def test_a_bundle_that_killed_its_child_once_is_loaded_again(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    lease, mortals = await hand.claim("plan"), deadly(1)
    ending = await planned_with(hand, lease, mortals)
    assert isinstance(ending, Crashed)
    await hand.settle(lease, ending)
    assert (await hand.fresh(build)).state is BuildState.PLANNING
    plan = await planned_with(hand, await claimed_when_due(hand, "plan"), mortals)
    assert isinstance(plan, Plan)
    assert [row.key.story_id for row in plan.rows] == [StoryId("a--one")]


async def test_a_bundle_that_killed_its_child_twice_fails_its_build_with_the_cause(
    hand: Hand,
) -> None:
    build = await hand.upload(STORIES)
    await crash(hand, await hand.claim("plan"))
    await crash(hand, await claimed_when_due(hand, "plan"))
    ended = await hand.fresh(build)
    assert ended.state is BuildState.FAILED
    assert ended.state_reason == (
        "its plan job crashed: loading the bundle, the browser's process died (out of memory):"
        " 2100 MiB in use, over the ceiling of 2048 MiB"
    )
    assert await ended_jobs(hand, build) == [("plan", "crashed")]


async def test_a_bundle_whose_index_cannot_be_read_fails_its_build_at_once(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await run(hand, NO_JSON)
    lease = await hand.claim("plan")
    ending = await planned_with(hand, lease, deadly(0))
    assert isinstance(ending, Failed)
    await hand.settle(lease, ending)
    ended = await hand.fresh(build)
    assert ended.state is BuildState.FAILED
    assert (ended.state_reason or "").startswith("its plan job failed: ")
    assert await ended_jobs(hand, build) == [("plan", "failed")]


async def test_what_is_odd_about_a_bundle_is_told_of_its_build(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    future = await hand.blobs.put(index_of(STORIES).replace(b'"v": 5', b'"v": 6'))
    await run(hand, f"UPDATE bundle_files SET key = '{future}' WHERE path = 'index.json'")
    lease, broken = (
        await hand.claim("plan"),
        StoryWarning(WarningCode.UNREADABLE_FILE, "./a.js: no"),
    )
    plan = await planned_with(hand, lease, replace(deadly(0), failed=(broken,)))
    assert isinstance(plan, Plan)
    await hand.settle(lease, Completed(plan))
    assert list((await hand.fresh(build)).warnings) == [
        "index.json has version 6, newer than 5: read as that one",
        "A file did not load: ./a.js: no",
    ]


async def test_a_child_that_its_consumer_stopped_is_no_fault_of_the_bundle(hand: Hand) -> None:
    await hand.upload(STORIES)
    stopped = deadly(1, Cause(Death.STOPPED, "stopped by its consumer"))
    with pytest.raises(ChildDiedError):
        await planned_with(hand, await hand.claim("plan"), stopped)


async def crash(hand: Hand, lease: Lease) -> None:
    ending = await planned_with(hand, lease, deadly(1))
    assert ending is not None
    assert not isinstance(ending, Plan)
    await hand.settle(lease, ending)
