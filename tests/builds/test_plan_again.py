"""A build whose environment is gone is planned again for one that is there."""

from dataclasses import replace

import pytest

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.environment_store import know_environment
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.plan_again import plan_elsewhere
from storyshelf.builds.serving import MAX_REPLANS, environment_of, obstacle_of
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, EnvironmentId
from storyshelf.queue import store as queue
from storyshelf.queue.job import Completed, Failed, Outcome
from storyshelf.queue.store import Consumer, ConsumerState
from tests.builds.facts import (
    actions_of,
    age_jobs,
    live_jobs,
    live_kinds,
    run,
    shard_states,
    shards_of,
)
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand

STORIES = ["a--one", "b--one"]
LOOK = dict.fromkeys(STORIES, "red")
NEWER = EnvironmentId("newer")
STOPPED = Failed("cancelled on request", Outcome.CANCELLED)


def a_consumer(environment: EnvironmentId) -> Consumer:
    return Consumer(
        id=ConsumerId(f"with {environment}"),
        host="ann",
        pid=1,
        version="1",
        lanes=("build", f"capture@{environment}", "plan"),
        kinds=("capture", "finalise", "plan"),
        environment_id=environment,
    )


async def come(db: Database, consumer: Consumer) -> None:
    """A consumer introduces itself, as it does when it boots."""
    assert consumer.environment_id is not None
    facts = {"browser": "chromium", "version": f"of {consumer.environment_id}"}
    async with db.transaction() as tx:
        await know_environment(tx, consumer.environment_id, facts)
        await queue.register_consumer(tx, consumer)


async def capturing(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    return await hand.fresh(build)


async def moved(hand: Hand) -> tuple[Build, ...]:
    return await plan_elsewhere(hand.db, hand.kinds, CAPTURE_LANE)


async def test_a_build_whose_environment_is_gone_is_planned_again(hand: Hand) -> None:
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    (queued,) = await moved(hand)
    assert (queued.state, queued.generation, queued.replans) == (BuildState.QUEUED, 2, 1)
    assert await live_kinds(hand, build) == ["plan"]
    assert await shard_states(hand, build) == [ShardState.CANCELLED, ShardState.CANCELLED]


async def test_it_is_captured_where_it_was_planned_again_and_says_why(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture_one(LOOK)
    await come(hand.db, a_consumer(NEWER))
    await moved(hand)
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    ended = await hand.finalise(build)
    assert ended.state is BuildState.ACCEPTED
    assert ended.replan_reason == (
        "no consumer has (test) any more, there is chromium of newer (newer)"
    )
    assert ("rule: environment gone", "build.plan_again") in await actions_of(hand, build)


async def test_what_still_runs_of_it_counts_nothing(hand: Hand) -> None:
    build = await capturing(hand)
    lease = await hand.claim(CAPTURE_LANE)
    await come(hand.db, a_consumer(NEWER))
    await moved(hand)
    await hand.shoot(lease, LOOK)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    assert (await hand.fresh(build)).state is BuildState.QUEUED
    await hand.plan(build, STORIES)
    assert [shard.generation for shard in await shards_of(hand, build)] == [2]


async def test_what_a_crash_left_of_its_jobs_is_cancelled_later(hand: Hand) -> None:
    build = await capturing(hand)
    held = await hand.claim(CAPTURE_LANE)
    await come(hand.db, a_consumer(NEWER))
    await moved(hand)
    await run(hand, "UPDATE jobs SET cancel_requested_at = NULL")
    await sweep_cancelled(hand.db, hand.kinds)
    asked = [job["id"] for job in await live_jobs(hand, build) if job["cancel_requested_at"]]
    assert asked == [held.job_id]
    await hand.settle(held, STOPPED)


@pytest.mark.parametrize("lane", ["plan", "build", "capture", "capture@", "capture@other"])
async def test_other_lanes_are_left_alone(hand: Hand, lane: str) -> None:
    await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    assert await plan_elsewhere(hand.db, hand.kinds, lane) == ()


async def test_without_another_environment_it_waits(hand: Hand) -> None:
    build = await capturing(hand)
    assert await moved(hand) == ()
    assert (await hand.fresh(build)).state is BuildState.CAPTURING


async def test_a_consumer_that_could_not_plan_it_does_not_count(hand: Hand) -> None:
    await capturing(hand)
    await come(hand.db, replace(a_consumer(NEWER), lanes=(f"capture@{NEWER}",)))
    assert await moved(hand) == ()


@pytest.mark.parametrize("state", [ConsumerState.QUIET, ConsumerState.STOPPING])
async def test_a_consumer_that_takes_nothing_does_not_count(
    hand: Hand, state: ConsumerState
) -> None:
    await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    async with hand.db.transaction() as tx:
        await queue.mark_consumer(tx, a_consumer(NEWER).id, state)
    assert await moved(hand) == ()


async def test_a_build_whose_environment_came_back_stays(hand: Hand) -> None:
    await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    await come(hand.db, a_consumer(ENVIRONMENT))
    assert await moved(hand) == ()


async def test_a_build_whose_consumer_was_made_quiet_stays(hand: Hand) -> None:
    build = await capturing(hand)
    for environment in (NEWER, ENVIRONMENT):
        await come(hand.db, a_consumer(environment))
    async with hand.db.transaction() as tx:
        await queue.mark_consumer(tx, a_consumer(ENVIRONMENT).id, ConsumerState.QUIET)
    assert await moved(hand) == ()
    assert (await hand.fresh(build)).state is BuildState.CAPTURING


async def test_a_build_that_only_has_to_be_finalised_is_not_planned_again(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    await come(hand.db, a_consumer(NEWER))
    assert await moved(hand) == ()


async def test_a_build_is_planned_again_so_often_and_then_waits(hand: Hand) -> None:
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    for _ in range(MAX_REPLANS):
        assert len(await moved(hand)) == 1
        await hand.plan(build, STORIES)  # by a consumer of the first one, which goes at once
    assert await moved(hand) == ()
    assert (await hand.fresh(build)).state is BuildState.CAPTURING


async def test_who_has_it_captured_again_gives_it_all_its_chances_back(hand: Hand) -> None:
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    await moved(hand)
    await hand.cancel(build)
    again = await capture_again(hand.db, build.id, "Ada")
    assert (again.replans, again.replan_reason) == (0, None)


@pytest.mark.parametrize(
    ("lane", "environment"),
    [("capture@x", "x"), ("capture", None), ("capture@", None), ("plan@x", None)],
)
def test_a_capture_lane_is_of_an_environment(lane: str, environment: str | None) -> None:
    assert environment_of(lane) == environment


async def obstacle(hand: Hand, build: Build) -> str:
    """What the build waits for, in one text; nothing: for nobody who is not there."""
    async with hand.db.transaction() as tx:
        found = await obstacle_of(tx, await hand.fresh(build))
    return "" if found is None else f"{found.what}. {found.next_step}"


async def test_a_build_says_nothing_while_a_consumer_may_be_starting(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    assert await obstacle(hand, build) == ""
    await age_jobs(hand)
    assert await obstacle(hand, build) != ""


async def test_a_build_says_that_nobody_plans(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await age_jobs(hand)
    assert (await obstacle(hand, build)).startswith("No consumer takes plan jobs")
    await come(hand.db, a_consumer(ENVIRONMENT))
    assert await obstacle(hand, build) == ""


async def test_a_build_says_that_nobody_has_its_browser(hand: Hand) -> None:
    build = await capturing(hand)
    await age_jobs(hand)
    said = await obstacle(hand, build)
    assert said.startswith("No consumer has the browser this build is captured in: (test)")
    assert "storyshelf-consumer" in said


async def test_a_build_says_where_it_will_be_captured_instead(hand: Hand) -> None:
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    assert "planned again for it" in await obstacle(hand, build)
    await run(hand, f"UPDATE builds SET replans = {MAX_REPLANS}")
    assert "planned again 3 times already" in await obstacle(hand, build)


async def test_a_build_that_somebody_works_on_says_nothing(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.claim(CAPTURE_LANE)
    assert await obstacle(hand, build) == ""


async def test_a_build_says_that_nobody_finalises(hand: Hand) -> None:
    build = await capturing(hand)
    await hand.capture(build, LOOK)
    await age_jobs(hand)
    assert (await obstacle(hand, build)).startswith("No consumer takes build jobs")


async def test_a_build_that_ended_or_is_uploaded_waits_for_no_consumer(hand: Hand) -> None:
    assert await obstacle(hand, await hand.open(STORIES)) == ""
    assert await obstacle(hand, await hand.run(LOOK)) == ""
