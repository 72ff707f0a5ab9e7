"""Work that nobody takes: an alarm that ends with it, and builds that go where they can."""

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from storyshelf.operations import alarm_store
from storyshelf.operations.unserved_work import UnservedWork, alarm_name
from storyshelf.queue.store import Unserved
from storyshelf.queue.unserved import Seen, UnservedWatch
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import run
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand, a_hand
from tests.builds.test_plan_again import NEWER, a_consumer, capturing, come
from tests.fakes import FakeClock

LANE, KIND = Unserved(CAPTURE_LANE), Unserved("maintain", "tidy")
NOTHING = Seen((), ())


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def told(hand: Hand, seen: Seen) -> Collection[str]:
    """The alarms after the pass."""
    await UnservedWork(hand.db, hand.kinds).tell(seen)
    async with hand.db.transaction() as tx:
        return sorted(each.name for each in await alarm_store.alarms(tx))


async def test_each_alarm_says_what_is_not_served(hand: Hand) -> None:
    seen = Seen((LANE, KIND), (LANE, KIND))
    assert await told(hand, seen) == ["unserved:capture@test", "unserved:maintain/tidy"]


async def test_an_alarm_ends_when_the_work_is_served_again(hand: Hand) -> None:
    await told(hand, Seen((LANE, KIND), (LANE, KIND)))
    assert await told(hand, Seen((LANE,), (LANE,))) == [alarm_name(LANE)]
    assert await told(hand, NOTHING) == []


async def test_a_process_that_has_just_started_lowers_no_alarm_of_another(hand: Hand) -> None:
    await told(hand, Seen((LANE,), (LANE,)))
    assert await told(hand, Seen((LANE,), ())) == [alarm_name(LANE)]


async def test_an_alarm_that_goes_on_is_counted_once(hand: Hand) -> None:
    for _ in range(3):
        await told(hand, Seen((LANE,), (LANE,)))
    async with hand.db.transaction() as tx:
        assert [each.count for each in await alarm_store.alarms(tx)] == [1]


async def test_alarms_about_something_else_stay(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        await alarm_store.raise_alarm(tx, "audit_repairs", {})
    assert await told(hand, NOTHING) == ["audit_repairs"]


def watch_of(hand: Hand, clock: FakeClock) -> UnservedWatch:
    return UnservedWatch(hand.db, hand.kinds, clock, tell=UnservedWork(hand.db, hand.kinds).tell)


async def test_a_build_whose_browser_is_gone_goes_to_another_after_two_minutes(
    hand: Hand,
) -> None:
    clock = FakeClock()
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    watch = watch_of(hand, clock)
    await watch.run_once()
    await clock.advance(timedelta(seconds=119))
    await watch.run_once()
    assert (await hand.fresh(build)).state is BuildState.CAPTURING
    await clock.advance(timedelta(seconds=1))
    await watch.run_once()
    assert (await hand.fresh(build)).state is BuildState.QUEUED
    await watch.run_once()
    assert watch.alarms == ()


async def test_a_build_that_nobody_captures_fails_after_an_hour(hand: Hand) -> None:
    clock = FakeClock()
    build = await capturing(hand)
    await run(hand, "UPDATE jobs SET enqueued_at = now() - interval '2 hours'")
    watch = watch_of(hand, clock)
    await watch.run_once()
    await clock.advance(timedelta(hours=1))
    await watch.run_once()
    await come(hand.db, a_consumer(ENVIRONMENT))
    ended = await hand.finalise(build)
    assert ended.state is BuildState.FAILED
    assert "2 of its shards" in (ended.state_reason or "")


async def test_a_build_on_an_unserved_lane_is_planned_again_once_that_is_an_alarm(
    hand: Hand,
) -> None:
    build = await capturing(hand)
    await come(hand.db, a_consumer(NEWER))
    await told(hand, Seen((LANE,), ()))
    assert (await hand.fresh(build)).state is BuildState.CAPTURING
    await told(hand, Seen((LANE,), (LANE,)))
    assert (await hand.fresh(build)).state is BuildState.QUEUED
