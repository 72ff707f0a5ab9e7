from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import TextClause, text
from structlog.testing import capture_logs

from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId
from storyshelf.queue import store
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import Unserved
from storyshelf.queue.store.unserved import DEFERRED, END_WAITING, HEAD, UNSERVED
from storyshelf.queue.unserved import SILENT_FOR, Patience, Seen, UnservedWatch
from tests.fakes import FakeClock
from tests.queue.builders import a_job, claimed, enqueued, run, table
from tests.queue.kinds import Told, a_kind
from tests.queue.test_consumers import ANN, registered

HOUR = timedelta(hours=1)
X = Unserved("capture@x")
NEWER = Unserved("capture@x", "newer")
WAITED = "UPDATE jobs SET enqueued_at = now() - interval '2 hours'"


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


async def found(db: Database) -> tuple[Unserved, ...]:
    async with db.transaction() as tx:
        return await store.unserved(tx, SILENT_FOR)


async def lanes(db: Database) -> tuple[str, ...]:
    return tuple(one.lane for one in await found(db) if not one.kind)


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
    assert list(watch.alarms) == [X]
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


async def test_jobs_of_a_patient_kind_wait_however_long_it_takes(
    db: Database, clock: FakeClock
) -> None:
    kind = replace(a_kind(Told()), is_patient=True)
    watch = UnservedWatch(db, JobKinds([kind]), clock)
    await enqueued(db, a_job())
    await run(db, WAITED)
    await watch.run_once()
    await clock.advance(HOUR)
    await watch.run_once()
    assert (watch.alarms, len(await table(db, "jobs"))) == ((X,), 1)


async def test_a_parked_job_counts_as_waiting(db: Database) -> None:
    await enqueued(db, a_job(project_id=1))
    await run(db, "UPDATE jobs SET state = 'parked'")
    assert await found(db) == (X,)


async def test_a_kind_that_nobody_handles_who_offers_its_lane_is_unserved(db: Database) -> None:
    await registered(db)
    await enqueued(db, a_job(), a_job(kind="newer"), a_job(kind="newer"))
    assert await found(db) == (NEWER,)


async def test_a_kind_is_served_again_once_somebody_handles_it(db: Database) -> None:
    await registered(db)
    await enqueued(db, a_job(kind="newer"))
    await run(db, "UPDATE consumers SET kinds = kinds || '{newer}'")
    assert await found(db) == ()


async def test_on_a_lane_that_nobody_offers_the_lane_alone_is_told(db: Database) -> None:
    await enqueued(db, a_job(kind="newer"))
    assert await found(db) == (X,)


async def test_an_unknown_kind_is_ended_too_and_nobody_is_told_of_it(
    db: Database, clock: FakeClock
) -> None:
    told = Told()
    await registered(db)
    _, lost = await enqueued(db, a_job(), a_job(kind="newer"))
    await run(db, WAITED)
    watch = UnservedWatch(db, JobKinds([a_kind(told)]), clock)
    await watch.run_once()
    await clock.advance(HOUR)
    with capture_logs() as lines:
        await watch.run_once()
    assert [(row["id"], row["outcome"]) for row in await table(db, "jobs_done")] == [
        (lost, "unhandled")
    ]
    assert [row["kind"] for row in await table(db, "jobs")] == ["capture"]
    assert told.endings == []
    assert [line["kind"] for line in lines if line["event"] == "job.unknown_kind_ended"] == [
        "newer"
    ]


async def test_jobs_of_known_kinds_end_on_a_lane_that_holds_unknown_ones(
    db: Database, clock: FakeClock
) -> None:
    told = Told()
    known, _ = await enqueued(db, a_job(), a_job(kind="newer"))
    await run(db, WAITED)
    watch = UnservedWatch(db, JobKinds([a_kind(told)]), clock)
    await watch.run_once()
    await clock.advance(HOUR)
    await watch.run_once()
    assert [job_id for job_id, _, _ in told.endings] == [known]
    assert len(await table(db, "jobs_done")) == 2


async def test_whoever_is_told_hears_of_all_that_is_unserved_and_of_what_is_an_alarm(
    db: Database, clock: FakeClock
) -> None:
    heard: list[Seen] = []

    async def tell(seen: Seen) -> None:
        heard.append(seen)

    watch = UnservedWatch(db, JobKinds([a_kind(Told())]), clock, tell=tell)
    await enqueued(db, a_job())
    await watch.run_once()
    await clock.advance(timedelta(minutes=2))
    await watch.run_once()
    assert heard == [Seen((X,), ()), Seen((X,), (X,))]


async def test_who_cannot_be_told_does_not_keep_what_waited_too_long(
    db: Database, clock: FakeClock
) -> None:
    async def fails(seen: Seen) -> None:
        raise ValueError(seen)

    watch = UnservedWatch(db, JobKinds([a_kind(Told())]), clock, tell=fails)
    await enqueued(db, a_job())
    await run(db, WAITED)
    await watch.run_once()
    await clock.advance(HOUR)
    await watch.run_once()
    assert await table(db, "jobs") == []


async def test_a_pass_is_due_at_first_and_while_something_is_unserved_or_was(
    db: Database, clock: FakeClock
) -> None:
    watch = UnservedWatch(db, JobKinds([a_kind(Told())]), clock)
    assert await is_due(db, watch)
    await watch.run_once()
    assert not await is_due(db, watch)
    await enqueued(db, a_job())
    assert await is_due(db, watch)
    await watch.run_once()
    await registered(db)
    assert await is_due(db, watch)  # to take the alarm back
    await watch.run_once()
    assert not await is_due(db, watch)


async def is_due(db: Database, watch: UnservedWatch) -> bool:
    async with db.transaction() as tx:
        return await watch.look(tx)


async def test_offers_are_told_once_however_many_consumers_make_them(db: Database) -> None:
    await registered(db)
    async with db.transaction() as tx:
        await store.register_consumer(tx, replace(ANN, id=ConsumerId("bob:2:b")))
        assert await store.offers(tx, SILENT_FOR) == [frozenset({"plan", "capture@x"})]


A_BACKLOG = """
INSERT INTO jobs (kind, lane, payload, project_id, priority, max_attempts, fair_tag, state)
SELECT 'capture', 'capture@x', '{}', n % 50 + 1, 10, 3, n, 'queued'
FROM generate_series(1, 30000) AS n
"""


async def test_what_is_unserved_is_found_without_reading_the_backlog(db: Database) -> None:
    await registered(db)
    await run(db, A_BACKLOG)
    await enqueued(db, a_job(lane="capture@other"))
    await run(db, "ANALYZE jobs")
    assert (
        await most_rows_of_a_scan(
            db, UNSERVED, {"silent_s": 60.0, "head": HEAD, "deferred": DEFERRED}
        )
        <= HEAD
    )


async def test_the_end_of_a_small_lane_reads_nothing_of_a_large_one(db: Database) -> None:
    await run(db, A_BACKLOG)
    await enqueued(db, a_job(lane="capture@other"))
    await run(db, f"{WAITED} WHERE lane = 'capture@other'")
    await run(db, "ANALYZE jobs")
    values = {"lane": "capture@other", "kind": None, "waited_s": 60.0, "limit": 200, "error": "x"}
    assert await most_rows_of_a_scan(db, END_WAITING, values) <= HEAD


async def most_rows_of_a_scan(
    db: Database, statement: TextClause, values: dict[str, Any], of: str = "jobs"
) -> int:
    """The most rows of a table that one scan reads or throws away; a sequential one reads all."""
    explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}")
    async with db.transaction() as tx:
        ((plan,),) = await tx.execute(explain, values)
    scans = [node for node in nodes_of(plan[0]["Plan"]) if node.get("Relation Name") == of]
    assert scans
    return max(
        int(node["Actual Rows"]) + int(node.get("Rows Removed by Filter", 0))
        for node in scans
        if node["Node Type"] != "ModifyTable"
    )


def nodes_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from nodes_of(below)
