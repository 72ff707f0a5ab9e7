"""How still a story holds is remembered from build to build, and its next capture begins there."""

from dataclasses import replace

import pytest

from storyshelf.builds.build import Build
from storyshelf.builds.jobs import parse_capture
from storyshelf.ids import SnapshotKey, StoryId
from storyshelf.queue.job import Completed
from storyshelf.snapshots import steadiness_store
from storyshelf.snapshots.steadiness import TRY_AGAIN_EVERY, Level, Steadiness, start_of
from tests.builds.hand import CAPTURE_LANE, Hand

STORY = "a--one"


async def shown(hand: Hand, level: Level | None) -> tuple[Build, Level]:
    """Capture a build of one story that was believed there; return where it was to begin."""
    build = await hand.upload([STORY])
    await hand.plan(build, [STORY])
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    result = replace(await hand.shot(work.snapshots[0], {STORY: "red"}), level=level)
    for _ in "again", "is counted once":
        await hand.record(lease, work, [result])
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    return await hand.finalise(build), work.snapshots[0].level


async def known(hand: Hand, build: Build) -> Steadiness | None:
    async with hand.db.transaction() as tx:
        return await steadiness_store.of(tx, build.project_id, SnapshotKey(StoryId(STORY)))


async def test_a_capture_begins_where_the_story_was_last_believed(hand: Hand) -> None:
    levels = [Level.PAIR, Level.AGAIN, Level.NEVER, Level.FIRST, None]
    began = [(await shown(hand, level))[1] for level in levels]
    assert began == [Level.PAIR, Level.PAIR, Level.AGAIN, Level.AGAIN, Level.PAIR]


async def test_what_it_took_is_counted_and_the_worst_come_first(hand: Hand) -> None:
    for level in (Level.PAIR, Level.AGAIN, Level.NEVER):
        await shown(hand, level)
    build, _ = await shown(hand, Level.FIRST)
    one = await known(hand, build)
    assert one is not None
    assert (one.level, one.captures, one.needed_more, one.unstable) == (Level.FIRST, 4, 2, 1)
    assert one.flakiness == pytest.approx(1.5 / 4)
    async with hand.db.transaction() as tx:
        assert await steadiness_store.flakiest(tx, build.project_id, 5) == [one]


async def test_a_story_that_holds_still_is_not_listed(hand: Hand) -> None:
    build, _ = await shown(hand, Level.FIRST)
    async with hand.db.transaction() as tx:
        assert await steadiness_store.flakiest(tx, build.project_id, 5) == []


def test_a_story_may_show_now_and_then_that_it_needs_less() -> None:
    starts = {start_of(Level.AGAIN, captures) for captures in range(1, TRY_AGAIN_EVERY)}
    assert starts == {Level.AGAIN}
    assert start_of(Level.AGAIN, TRY_AGAIN_EVERY) is Level.PAIR
