from datetime import timedelta

import pytest

from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.unserved import SILENT_FOR, Patience, UnservedWatch
from tests.fakes import FakeClock
from tests.queue.builders import a_job, claimed, enqueued, run, table
from tests.queue.kinds import Told, a_kind
from tests.queue.test_consumers import ANN, registered

HOUR = timedelta(hours=1)
WAITED = "UPDATE jobs SET enqueued_at = now() - interval '2 hours'"


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


async def lanes(db: Database) -> tuple[str, ...]:
    async with db.transaction() as tx:
        return await store.unserved_lanes(tx, SILENT_FOR)


async def test_lanes_with_waiting_jobs_and_no_consumer_are_unserved(db: Database) -> None:
    assert ANN.lanes == ("plan", "capture@x")
    await registered(db)
    await enqueued(
        db,
        *[a_job()] * 3,
        *[a_job(lane="capture@other")] * 3,
        a_job(lane="deliver", delay=HOUR),
        a_job(lane="plan"),
    )
    assert await lanes(db) == ("capture@other", "deliver")


@pytest.mark.parametrize(
    "change", ["state = 'quiet'", "beat_at = now() - interval '2 minutes'", "lanes = '{build}'"]
)
async def test_a_consumer_that_does_not_claim_serves_nobody(db: Database, change: str) -> None:
    await registered(db)
    await enqueued(db, a_job())
    assert await lanes(db) == ()
    await run(db, f"UPDATE consumers SET {change}")
    assert await lanes(db) == ("capture@x",)


async def test_running_jobs_need_no_other_consumer(db: Database) -> None:
    await enqueued(db, a_job())
    await claimed(db)
    assert await lanes(db) == ()


async def test_an_unserved_lane_is_an_alarm_first_and_ends_its_jobs_later(
    db: Database, clock: FakeClock
) -> None:
    told = Told()
    (job_id,) = await enqueued(db, a_job())
    await run(db, WAITED)
    watch = UnservedWatch(db, JobKinds([a_kind(told)]), clock)
    await watch.run_once()
    assert list(watch.alarms) == []
    await clock.advance(timedelta(minutes=2))
    await watch.run_once()
    assert list(watch.alarms) == ["capture@x"]
    assert len(await table(db, "jobs")) == 1
    await clock.advance(HOUR)
    await watch.run_once()
    ((ended, outcome, error),) = told.endings
    assert (ended, outcome) == (job_id, Outcome.UNHANDLED)
    assert "capture@x" in error
    assert [row["state"] for row in await table(db, "jobs_done")] == ["failed"]


async def test_a_job_that_came_lately_is_given_its_own_time(db: Database, clock: FakeClock) -> None:
    watch = UnservedWatch(db, JobKinds([a_kind(Told())]), clock, Patience(end_after=HOUR))
    await enqueued(db, a_job())
    await watch.run_once()
    await clock.advance(HOUR)
    await watch.run_once()
    assert len(await table(db, "jobs")) == 1


async def test_patience_begins_anew_when_a_consumer_was_there_meanwhile(
    db: Database, clock: FakeClock
) -> None:
    watch = UnservedWatch(db, JobKinds([a_kind(Told())]), clock)
    await enqueued(db, a_job())
    await run(db, WAITED)
    await watch.run_once()
    await clock.advance(HOUR)
    await registered(db)
    await watch.run_once()
    await run(db, "DELETE FROM consumers")
    await watch.run_once()
    assert (watch.alarms, len(await table(db, "jobs"))) == ((), 1)
