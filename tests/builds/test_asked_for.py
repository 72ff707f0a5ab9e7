"""What somebody asked to be captured again goes first, within bounds."""

from storyshelf.builds.build import Build
from storyshelf.builds.capture_again import (
    MOST_FIRST,
    cancel_shard,
    capture_again,
    retry_shard,
)
from storyshelf.queue.job import Failed, Priority
from tests.builds.facts import live_jobs, shards_of
from tests.builds.hand import Hand

STORIES = ["a--one", "b--one"]


async def one_that_failed(hand: Hand) -> Build:
    build = await hand.upload(STORIES)
    await hand.settle(await hand.claim("plan"), Failed("boom"))
    return build


async def test_what_somebody_asked_for_goes_first(hand: Hand) -> None:
    build = await one_that_failed(hand)
    await capture_again(hand.db, build.id, "Ada")
    assert (await hand.claim("plan")).priority is Priority.INTERACTIVE


async def test_who_asks_for_much_is_first_with_a_part_of_it_alone(hand: Hand) -> None:
    """Else a project could keep every other from its turn, by asking again and again."""
    builds = [await one_that_failed(hand) for _ in range(MOST_FIRST + 1)]
    for build in builds[:MOST_FIRST]:
        await capture_again(hand.db, build.id, "Ada")
    running = await hand.claim("plan")
    await capture_again(hand.db, builds[-1].id, "Ada")
    classes = [(await live_jobs(hand, build))[0]["priority"] for build in builds]
    assert running.priority is Priority.INTERACTIVE
    assert classes == [Priority.INTERACTIVE] * MOST_FIRST + [Priority.DEFAULT]


async def test_shards_that_are_given_up_and_retried_are_bounded_so_too(hand: Hand) -> None:
    stories = [f"{letter}--one" for letter in "abcdef"]
    build = await hand.upload(stories)
    await hand.plan(build, stories, shard_cost_ms=100)
    numbers = [shard.number for shard in await shards_of(hand, build)]
    assert len(numbers) == MOST_FIRST + 2
    for number in numbers[:-1]:
        await cancel_shard(hand.db, hand.kinds, await hand.fresh(build), number, "Ada")
        await retry_shard(hand.db, build.id, number, "Ada")
    classes = [job["priority"] for job in await live_jobs(hand, build)]
    assert sorted(classes) == [Priority.DEFAULT] * 2 + [Priority.INTERACTIVE] * MOST_FIRST
