"""Who acts on what is just ending is told so, and the audit does not say that he did it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from storyshelf.builds.capture_again import cancel_shard
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId
from storyshelf.operations.act_on_alarm import NoSuchAlarmError, dismiss_alarm
from storyshelf.operations.act_on_job import NotToBeCancelledError, cancel_job
from storyshelf.operations.alarm_store import alarms, lower_alarm, raise_alarm
from storyshelf.queue import store as queue
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import read
from tests.builds.hand import Hand, a_hand

LOOK = {"a--one": "red"}
WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def when_just_ended(
    db: Database, end: Callable[[Tx], Awaitable[object]], act: Awaitable[None]
) -> None:
    """Have it ended in a transaction that commits once `act` waits for it."""
    async with db.transaction() as ending:
        await end(ending)
        late = asyncio.ensure_future(act)
        while not await is_waiting(db):
            await SystemClock().sleep(0.01)
    await late


async def is_waiting(db: Database) -> bool:
    async with db.transaction() as tx:
        found = await tx.execute(text(WAITING))
        return bool(found.scalar_one())


async def told_of(hand: Hand, action: str) -> int:
    rows = await read(hand, "SELECT 1 FROM audit_events WHERE action = :action", action=action)
    return len(rows)


async def job_of(hand: Hand, kind: str) -> JobId:
    (row,) = await read(hand, "SELECT id FROM jobs WHERE kind = :kind", kind=kind)
    return JobId(row["id"])


async def test_a_job_that_is_just_ending_is_cancelled_by_nobody(hand: Hand) -> None:
    await hand.upload(sorted(LOOK))
    job_id = await job_of(hand, "plan")
    late = cancel_job(hand.db, hand.kinds, job_id, "ben")
    with pytest.raises(NotToBeCancelledError):
        await when_just_ended(hand.db, lambda tx: queue.cancel_jobs(tx, [job_id]), late)
    assert await told_of(hand, "job.cancel") == 0


async def test_a_shard_that_is_just_ending_is_cancelled_by_nobody(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    job_id = await job_of(hand, "capture")
    late = cancel_shard(hand.db, hand.kinds, await hand.fresh(build), 1, "ben")
    await when_just_ended(hand.db, lambda tx: queue.cancel_jobs(tx, [job_id]), late)
    assert await told_of(hand, "shard.cancel") == 0


async def test_who_dismisses_an_alarm_that_is_just_dismissed_is_not_told_that_it_came_again(
    hand: Hand,
) -> None:
    async with hand.db.transaction() as tx:
        await raise_alarm(tx, "shards_left", {}, times=3)
        (alarm,) = await alarms(tx)
    late = dismiss_alarm(hand.db, "shards_left", alarm.seen, "ben")
    with pytest.raises(NoSuchAlarmError):
        await when_just_ended(hand.db, lambda tx: lower_alarm(tx, "shards_left"), late)
    assert await told_of(hand, "alarm.dismiss") == 0
