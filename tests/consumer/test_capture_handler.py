"""A shard goes on over the deaths of its children, and gives up only what keeps killing them."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from consumer.death import Cause, ChildDiedError, Death
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import parse_capture
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Database
from storyshelf.ids import StoryId
from storyshelf.queue.expiry import end_overdue
from storyshelf.queue.job import Completed, Crashed, Lease, LeaseLostError
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import (
    live_jobs,
    run,
    shard_states,
    shards_of,
    snapshots_of,
    verdicts_of,
)
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand, png_of
from tests.consumer.mortal import Mortals, all_look, attempt, claimed_when_due
from tests.queue.builders import let_leases_run_out

STORIES = ["a--one", "b--two", "c--three", "d--four"]
LOOK = all_look(STORIES)
WELL = [Verdict.ADDED] * 4


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def claimed(hand: Hand) -> tuple[Build, Lease]:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    return build, await hand.claim(CAPTURE_LANE)


async def claimed_again(hand: Hand) -> Lease:
    await let_leases_run_out(hand.db)
    return await hand.claim(CAPTURE_LANE)


async def crash(hand: Hand, lease: Lease) -> None:
    await hand.settle(lease, await attempt(hand, lease, Mortals(LOOK, still_births=[1, 2, 3])))


async def killed_in_mid_story(hand: Hand, lease: Lease) -> None:
    with pytest.raises(ConsumerKilledError):
        await attempt(hand, lease, Mortals(LOOK, at_story=killed_at(nth=1)))
    await let_leases_run_out(hand.db)


async def verdicts(hand: Hand, build: Build) -> list[Verdict]:
    return [verdict for _, verdict in sorted((await verdicts_of(hand, build)).items())]


async def test_a_story_that_killed_its_child_once_is_rendered_by_the_next(hand: Hand) -> None:
    build, lease = await claimed(hand)
    mortals = Mortals(LOOK, fatal=Counter({"b--two": 1}))
    assert await attempt(hand, lease, mortals) is None
    assert await verdicts(hand, build) == WELL
    assert mortals.lent == 2


async def test_a_story_that_killed_its_child_twice_is_errored_and_the_shard_goes_on(
    hand: Hand,
) -> None:
    build, lease = await claimed(hand)
    mortals = Mortals(LOOK, fatal=Counter({"b--two": 99}))
    assert await attempt(hand, lease, mortals) is None
    assert await verdicts(hand, build) == [Verdict.ADDED, Verdict.ERRORED, *WELL[2:]]
    assert mortals.lent == 3
    row = (await snapshots_of(hand, build))["b--two"]
    assert row["crashes"] == 2
    assert row["error"] == {
        "code": "page_crashed",
        "message": "the browser's process died (signal): signal SIGSEGV",
        "stack": "",
    }


async def test_every_story_may_kill_its_children_and_the_shard_still_ends(hand: Hand) -> None:
    build, lease = await claimed(hand)
    mortals = Mortals(LOOK, fatal=Counter(dict.fromkeys(STORIES, 99)))
    assert await attempt(hand, lease, mortals) is None
    assert await verdicts(hand, build) == [Verdict.ERRORED] * 4
    assert mortals.lent == 8


async def test_a_death_that_another_consumer_counted_counts_here(hand: Hand) -> None:
    build, lease = await claimed(hand)
    dying = Mortals(LOOK, fatal=Counter({"a--one": 1}), at_story=killed_at(nth=2))
    with pytest.raises(ConsumerKilledError):
        await attempt(hand, lease, dying)
    next_one = Mortals(LOOK, fatal=Counter({"a--one": 99}))
    await attempt(hand, await claimed_again(hand), next_one)
    assert (await snapshots_of(hand, build))["a--one"]["verdict"] == Verdict.ERRORED
    assert next_one.fatal["a--one"] == 98


async def test_an_attempt_that_only_counted_a_death_stays_charged(hand: Hand) -> None:
    build, lease = await claimed(hand)
    dying = Mortals(LOOK, fatal=Counter({"a--one": 1}), at_story=killed_at(nth=2))
    with pytest.raises(ConsumerKilledError):
        await attempt(hand, lease, dying)
    assert [job["charged"] for job in await live_jobs(hand, build)] == [1]


async def test_a_story_given_up_by_a_consumer_that_died_before_it_wrote_so_is_not_rendered(
    hand: Hand,
) -> None:
    build, lease = await claimed(hand)
    await run(hand, "UPDATE snapshots SET crashes = 2 WHERE story_id IN ('a--one', 'c--three')")
    mortals = Mortals(LOOK)
    await attempt(hand, lease, mortals)
    assert mortals.shown == ["b--two", "d--four"]
    rows = await snapshots_of(hand, build)
    assert rows["a--one"]["error"]["message"] == (
        "the browser's process died in the attempts before"
    )


async def test_children_that_keep_dying_between_stories_end_the_attempt_as_crashed(
    hand: Hand,
) -> None:
    _, lease = await claimed(hand)
    mortals = Mortals(LOOK, still_births=[1, 2, 3])
    ending = await attempt(hand, lease, mortals)
    assert isinstance(ending, Crashed)
    assert ending.error == (
        "3 browsers in a row died between stories; the last:"
        " the browser's process died (exit): exit code 3"
    )


async def test_a_result_between_two_deaths_begins_their_count_anew(hand: Hand) -> None:
    build, lease = await claimed(hand)
    each_story_needs_a_second_child = Counter({"b--two": 1, "c--three": 1})
    mortals = Mortals(LOOK, each_story_needs_a_second_child, still_births=[1, 2, 4, 5, 7, 8])
    assert await attempt(hand, lease, mortals) is None
    assert await verdicts(hand, build) == WELL


async def test_what_was_captured_before_the_attempt_crashed_is_kept(hand: Hand) -> None:
    build, lease = await claimed(hand)
    mortals = Mortals(LOOK, fatal=Counter({"b--two": 1}), still_births=[2, 3, 4])
    assert isinstance(await attempt(hand, lease, mortals), Crashed)
    assert await verdicts(hand, build) == [Verdict.ADDED, *[Verdict.PLANNED] * 3]


async def test_a_shard_that_crashes_in_every_attempt_fails_and_so_does_its_build(
    hand: Hand,
) -> None:
    build, lease = await claimed(hand)
    await crash(hand, lease)
    for _ in range(2):
        await crash(hand, await claimed_when_due(hand, CAPTURE_LANE))
    (shard,) = await shards_of(hand, build)
    assert shard.state is ShardState.FAILED
    assert (shard.error or "").startswith("crashed: 3 browsers in a row died between stories")
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_a_child_that_its_consumer_stopped_is_no_fault_of_the_story(hand: Hand) -> None:
    build, lease = await claimed(hand)
    stopped = Cause(Death.STOPPED, "stopped by its consumer")
    with pytest.raises(ChildDiedError):
        await attempt(hand, lease, Mortals(LOOK, Counter({"a--one": 1}), cause=stopped))
    assert (await snapshots_of(hand, build))["a--one"]["crashes"] == 0


async def test_a_story_that_kills_the_whole_consumer_costs_its_shard_and_the_build_ends(
    hand: Hand,
) -> None:
    build, lease = await claimed(hand)
    await killed_in_mid_story(hand, lease)
    for _ in range(2):
        await killed_in_mid_story(hand, await hand.claim(CAPTURE_LANE))
    await end_overdue(hand.db, hand.kinds)
    assert await shard_states(hand, build) == [ShardState.FAILED]
    assert (await hand.finalise(build)).state is BuildState.FAILED


async def test_two_attempts_at_one_shard_never_mix(hand: Hand) -> None:
    build, lease = await claimed(hand)
    in_first, go_on = asyncio.Event(), asyncio.Event()

    async def at_second_story(story: StoryId) -> None:
        if story == "b--two":
            in_first.set()
            await go_on.wait()

    stale = Mortals(all_look(STORIES, "stale"), at_story=at_second_story)
    first = asyncio.ensure_future(attempt(hand, lease, stale))
    await in_first.wait()
    second_lease = await claimed_again(hand)
    await attempt(hand, second_lease, Mortals(all_look(STORIES, "fresh")))
    go_on.set()
    with pytest.raises(LeaseLostError):
        await first
    await hand.settle(second_lease, Completed(None), parse_capture(second_lease.payload))
    shown = {story: row["image_key"] for story, row in (await snapshots_of(hand, build)).items()}
    assert shown == {story: key_of(png_of(f"fresh {story}")) for story in STORIES}


async def test_giving_up_one_attempt_leaves_the_other_at_the_same_shard_alone(hand: Hand) -> None:
    build, lease = await claimed(hand)
    in_first, in_second, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def in_first_for_ever(_: StoryId) -> None:
        in_first.set()
        await asyncio.Event().wait()

    async def in_second_until_told(_: StoryId) -> None:
        in_second.set()
        await go_on.wait()

    first = asyncio.ensure_future(attempt(hand, lease, Mortals(LOOK, at_story=in_first_for_ever)))
    await in_first.wait()
    next_lease = await claimed_again(hand)
    mortals = Mortals(LOOK, at_story=in_second_until_told)
    second = asyncio.ensure_future(attempt(hand, next_lease, mortals))
    await in_second.wait()
    first.cancel()
    await asyncio.wait({first})
    go_on.set()
    await second
    assert await verdicts(hand, build) == WELL


class ConsumerKilledError(Exception):
    """The end of a consumer in the middle of a story: nothing of it runs any more."""


def killed_at(nth: int) -> Callable[[StoryId], Awaitable[None]]:
    """End the consumer when that many stories were begun."""
    begun = iter(range(1, 100))

    async def at_story(_: StoryId) -> None:
        if next(begun) == nth:
            raise ConsumerKilledError

    return at_story
