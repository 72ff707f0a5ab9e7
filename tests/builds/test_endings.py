"""Each build ends, whatever it holds and whatever befalls its jobs, in the state it should."""

from datetime import timedelta

import pytest

from storyshelf.builds.build import BuildState
from storyshelf.builds.capture_again import capture_again
from storyshelf.builds.finalise import finalise
from storyshelf.builds.jobs import BuildPayload
from storyshelf.builds.shard_store import ShardState
from storyshelf.queue.expiry import ExpiryTimer, end_overdue
from storyshelf.queue.job import Completed, Failed, Outcome, Retried
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.facts import (
    ended_jobs,
    live_kinds,
    read,
    run,
    shard_states,
    snapshots_of,
    verdicts_of,
)
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.fakes import FakeClock
from tests.queue.builders import let_leases_run_out

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)
SKIPPED = {story: {"disableSnapshot": True} for story in STORIES}
ENDED_WITH_PLANNED = """
SELECT DISTINCT b.number FROM builds AS b
JOIN snapshots AS s ON s.build_id = b.id AND s.generation = b.planned_generation
WHERE b.ended_at IS NOT NULL AND s.verdict = 'planned'
"""
WORST_PAYLOADS = ["{}", '{"build_id": "x"}', '{"build_id": 1, "generation": 1, "shard_id": null}']


async def test_a_build_whose_stories_are_all_skipped_passes_without_a_shard(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, SKIPPED)
    assert await shard_states(hand, build) == []
    assert (await hand.finalise(build)).state is BuildState.PASSED


async def test_a_build_in_which_everything_is_gone_waits_for_people(hand: Hand) -> None:
    await hand.run({"a--one": "red"})
    build = await hand.upload(["b--one"])
    await hand.plan(build, ["b--one"], {"b--one": {"disableSnapshot": True}})
    assert (await hand.finalise(build)).state is BuildState.PENDING


async def test_the_plan_of_a_build_without_shards_enqueues_one_finalise(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, SKIPPED)
    assert await live_kinds(hand, build) == ["finalise"]


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.FAILED, "its plan job failed: no browser"),
        (Outcome.DROPPED, "its plan job could not be read: no browser"),
        (Outcome.UNHANDLED, "its plan job found nobody to do it: no browser"),
    ],
)
async def test_a_plan_that_fails_for_good_fails_the_build(
    hand: Hand, outcome: Outcome, reason: str
) -> None:
    build = await hand.upload(STORIES)
    await hand.settle(await hand.claim("plan"), Failed("no browser", outcome))
    ended = await hand.fresh(build)
    assert ended.state is BuildState.FAILED
    assert ended.state_reason == reason


async def test_a_plan_that_is_tried_again_leaves_the_build_alone(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.settle(await hand.claim("plan"), Retried(timedelta(0), "no browser"))
    assert (await hand.fresh(build)).state is BuildState.QUEUED


async def test_a_plan_whose_consumers_all_die_fails_the_build(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    for _ in range(3):
        await hand.claim("plan")
        await let_leases_run_out(hand.db)
    await end_overdue(hand.db, hand.kinds)
    ended = await hand.fresh(build)
    assert ended.state is BuildState.FAILED
    assert "The last attempt allowed was lost" in (ended.state_reason or "")


async def test_a_build_whose_plan_failed_is_no_ancestor(hand: Hand) -> None:
    first = await hand.run(LOOK)
    await hand.upload(STORIES)
    await hand.settle(await hand.claim("plan"), Failed("no browser"))
    third = await hand.run(LOOK)
    assert (third.state, third.ancestor_build_id) == (BuildState.PASSED, first.id)


@pytest.mark.parametrize("payload", WORST_PAYLOADS)
async def test_a_malformed_plan_payload_fails_the_build(hand: Hand, payload: str) -> None:
    build = await hand.upload(STORIES)
    await run(hand, "UPDATE jobs SET payload = CAST(:payload AS jsonb)", payload=payload)
    await hand.settle(await hand.claim("plan"), Failed("malformed", Outcome.DROPPED))
    assert (await hand.fresh(build)).state is BuildState.FAILED


@pytest.mark.parametrize("payload", WORST_PAYLOADS)
async def test_a_malformed_capture_payload_fails_its_shard_and_then_the_build(
    hand: Hand, payload: str
) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await run(hand, "UPDATE jobs SET payload = CAST(:payload AS jsonb)", payload=payload)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("malformed", Outcome.DROPPED))
    assert await shard_states(hand, build) == [ShardState.FAILED]
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_malformed_finalise_payload_fails_the_build(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    await hand.settle(await hand.claim("build"), Failed("malformed", Outcome.DROPPED))
    assert (await hand.fresh(build)).state is BuildState.FAILED


async def test_a_shard_whose_consumers_all_die_fails_and_so_does_the_build(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    for _ in range(3):
        await hand.claim(CAPTURE_LANE)
        await let_leases_run_out(hand.db)
    await end_overdue(hand.db, hand.kinds)
    assert await shard_states(hand, build) == [ShardState.FAILED]
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_finalise_whose_consumers_all_die_fails_the_build_which_can_be_captured_again(
    hand: Hand,
) -> None:
    """Each kill is charged, as the job may be what kills; none leaves a build without an end."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    timer = ExpiryTimer(hand.db, hand.kinds, FakeClock(), lambda: 0.0)
    kills = 0
    while "finalise" in await live_kinds(hand, build):
        await hand.claim("build")
        await let_leases_run_out(hand.db)
        await timer.run_once()
        kills += 1
    ended = await hand.fresh(build)
    assert kills == 10
    assert (ended.state, ended.open_shards) == (BuildState.FAILED, 0)
    assert ended.state_reason is not None
    assert ended.state_reason.startswith("its finalise job failed: The last attempt allowed was")
    await capture_again(hand.db, build.id, "Ada")
    await hand.plan(build, STORIES)
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED


async def test_the_results_of_a_failed_build_stay(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await hand.capture_one(LOOK | {"a--one": "pink"})
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    assert (await hand.finalise(build)).state is BuildState.FAILED
    assert set((await verdicts_of(hand, build)).values()) == {Verdict.CHANGED, Verdict.PLANNED}


async def test_what_a_failed_build_never_captured_hands_its_baseline_on(hand: Hand) -> None:
    first = await hand.run(LOOK)
    accepted = {s: row["id"] for s, row in (await snapshots_of(hand, first)).items()}
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    await hand.finalise(build)
    rows = await snapshots_of(hand, build)
    assert {s: row["effective_snapshot_id"] for s, row in rows.items()} == accepted


async def test_an_ended_build_has_nothing_planned_unless_it_failed(hand: Hand) -> None:
    for look in (LOOK, LOOK | {"a--one": "!"}, {"a--one": "pink"}, LOOK):
        await hand.run(look)
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.settle(await hand.claim(CAPTURE_LANE), Failed("boom"))
    await hand.finalise(build)
    assert [row["number"] for row in await read(hand, ENDED_WITH_PLANNED)] == [build.number]


async def test_every_job_of_a_build_is_over_when_it_ends(hand: Hand) -> None:
    build = await hand.run(LOOK)
    assert await live_kinds(hand, build) == []
    assert await ended_jobs(hand, build) == [
        ("plan", "completed"),
        ("capture", "completed"),
        ("finalise", "completed"),
    ]


async def test_a_finalise_that_is_delivered_twice_changes_nothing(hand: Hand) -> None:
    build = await hand.run(LOOK)
    async with hand.db.transaction() as tx:
        await finalise(tx, BuildPayload(build.id, build.generation))
    assert await hand.fresh(build) == build


async def test_a_plan_of_an_older_generation_writes_nothing(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    lease = await hand.claim("plan")
    made = await hand.planned(build, STORIES)
    await run(hand, "UPDATE builds SET generation = 2")
    await hand.settle(lease, Completed(made))
    assert (await hand.fresh(build)).state is BuildState.PLANNING
    assert await read(hand, "SELECT id FROM snapshots") == []
