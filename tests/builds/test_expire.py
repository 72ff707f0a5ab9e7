"""Uploads that were given up end by themselves."""

import asyncio
from datetime import timedelta

from storyshelf.builds.build import BuildState
from storyshelf.builds.expire import expire_uploads
from tests.builds.facts import run
from tests.builds.hand import Hand

STORIES = ["a--one"]
DAY = timedelta(hours=24)
AGE = "UPDATE builds SET created_at = created_at - interval '25 hours'"


async def test_an_upload_that_was_given_up_is_cancelled_with_the_reason(hand: Hand) -> None:
    await hand.open(STORIES)
    await run(hand, AGE)
    (expired,) = await expire_uploads(hand.db, DAY)
    assert expired.state is BuildState.CANCELLED
    assert expired.state_reason == "the upload was not sealed within 24 hours"


async def test_a_young_upload_is_left_alone(hand: Hand) -> None:
    build = await hand.open(STORIES)
    assert await expire_uploads(hand.db, DAY) == ()
    assert (await hand.fresh(build)).state is BuildState.UPLOADING


async def test_a_sealed_build_is_never_too_old(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await run(hand, AGE)
    assert await expire_uploads(hand.db, DAY) == ()
    assert (await hand.fresh(build)).state is BuildState.QUEUED


async def test_two_passes_at_once_end_each_upload_once(hand: Hand) -> None:
    for _ in range(3):
        await hand.open(STORIES)
    await run(hand, AGE)
    async with asyncio.TaskGroup() as group:
        passes = [group.create_task(expire_uploads(hand.db, DAY)) for _ in range(3)]
    expired = [build.number for each in passes for build in each.result()]
    assert sorted(expired) == [1, 2, 3]
