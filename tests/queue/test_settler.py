import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.job import Completed, Ending, Failed, Lease, Outcome, Requeued
from storyshelf.queue.job_kind import JobKind, JobKinds, Settled, Settling
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler
from tests.fakes import FakeClock
from tests.queue.attempts import settled
from tests.queue.builders import (
    BOB,
    a_job,
    a_lease,
    claimed,
    enqueued,
    let_leases_run_out,
    table,
    until,
)
from tests.queue.flaky import FlakyDatabase
from tests.queue.kinds import Told, a_kind

TIMES = LeaseTimes()
EACH_MS, ALLOWED_MS = 100, 300  # four at once are too many for one statement, one is not


@pytest.fixture
async def flaky(database_url: str) -> AsyncIterator[FlakyDatabase]:
    database = FlakyDatabase(database_url)
    yield database
    await database.close()


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


def a_settler(db: Database, kind: JobKind, clock: FakeClock) -> Settler:
    return Settler(db, JobKinds([kind]), clock, draw=lambda: 0.0)


def attempted(lease: Lease, kind: JobKind, ending: Ending) -> Attempted:
    return Attempted(Hold(lease, 0.0, TIMES), kind, ending)


async def test_effects_and_the_end_of_the_job_are_one_transaction(
    db: Database, clock: FakeClock
) -> None:
    async def enqueue_next(tx: Tx, settled: Sequence[Settled]) -> None:
        await store.enqueue(tx, [a_job(kind="finalise", lane="build")])

    kind = a_kind(Told(), apply=enqueue_next)
    lease = await a_lease(db)
    outcome = await settled(a_settler(db, kind, clock), attempted(lease, kind, Completed()))
    assert outcome is Outcome.COMPLETED
    assert [row["kind"] for row in await table(db, "jobs")] == ["finalise"]


async def test_an_apply_that_fails_is_a_failure_of_the_attempt(
    db: Database, clock: FakeClock
) -> None:
    async def refuse(tx: Tx, settled: Sequence[Settled]) -> None:
        await store.enqueue(tx, [a_job(kind="finalise", lane="build")])
        raise LookupError("no such shard")

    kind = a_kind(Told(), apply=refuse)
    lease = await a_lease(db)
    outcome = await settled(a_settler(db, kind, clock), attempted(lease, kind, Completed()))
    assert outcome is Outcome.RETRIED
    (row,) = await table(db, "jobs")
    assert (row["kind"], row["state"]) == ("capture", "deferred")
    assert "no such shard" in row["last_error"]


async def test_a_failure_is_told_to_the_kind_and_a_retry_is_not(
    db: Database, clock: FakeClock
) -> None:
    told = Told()
    kind = a_kind(told)
    settler = a_settler(db, kind, clock)
    await settled(settler, attempted(await a_lease(db), kind, Requeued("later")))
    assert told.endings == []
    (lease,) = await claimed(db)
    await settled(settler, attempted(lease, kind, Failed("no", Outcome.CRASHED)))
    assert told.endings == [(lease.job_id, Outcome.CRASHED, "no")]


async def test_a_stale_attempt_has_no_effects(db: Database, clock: FakeClock) -> None:
    told = Told()
    kind = a_kind(told)
    lease = await a_lease(db)
    await let_leases_run_out(db)
    await claimed(db, BOB)
    assert await settled(a_settler(db, kind, clock), attempted(lease, kind, Completed())) is None
    assert told.applied == []


async def test_attempts_that_end_together_are_settled_together(
    db: Database, clock: FakeClock
) -> None:
    told = Told()
    kind = a_kind(told, settling=Settling.TOGETHER)
    await settle_side_by_side(db, kind, clock, jobs=6)
    assert told.batches == [6]


async def test_kinds_that_stand_alone_are_settled_alone(db: Database, clock: FakeClock) -> None:
    told = Told()
    await settle_side_by_side(db, a_kind(told), clock, jobs=3)
    assert told.batches == [1, 1, 1]


async def test_one_failing_attempt_does_not_take_its_batch_down(
    db: Database, clock: FakeClock
) -> None:
    async def refuse_the_third(tx: Tx, settled: Sequence[Settled]) -> None:
        if any(one.lease.payload == {"shard": 3} for one in settled):
            raise LookupError

    kind = a_kind(Told(), settling=Settling.TOGETHER, apply=refuse_the_third)
    outcomes = await settle_side_by_side(db, kind, clock, jobs=5)
    assert outcomes == [Outcome.COMPLETED] * 3 + [Outcome.RETRIED] + [Outcome.COMPLETED]


async def test_a_settle_waits_for_a_database_that_is_away(
    flaky: FlakyDatabase, clock: FakeClock
) -> None:
    kind = a_kind(Told())
    lease = await a_lease(flaky)
    flaky.refusals = 3
    settling = asyncio.create_task(
        settled(a_settler(flaky, kind, clock), attempted(lease, kind, Completed()))
    )
    await clock.advance(0.25 + 0.5 + 1)
    assert await settling is Outcome.COMPLETED


async def test_a_settle_is_left_when_the_lease_can_be_trusted_no_longer(
    flaky: FlakyDatabase, clock: FakeClock
) -> None:
    kind = a_kind(Told())
    lease = await a_lease(flaky)
    flaky.refusals = 10_000
    settling = asyncio.create_task(
        settled(a_settler(flaky, kind, clock), attempted(lease, kind, Completed()))
    )
    await clock.advance(TIMES.trusted_until(0.0))
    assert await settling is None
    flaky.refusals = 0
    assert [row["state"] for row in await table(flaky, "jobs")] == ["running"]


async def test_a_settle_whose_answer_was_lost_is_recognised(
    flaky: FlakyDatabase, clock: FakeClock
) -> None:
    told = Told()
    kind = a_kind(told)
    lease = await a_lease(flaky)
    flaky.lost_answers = 1
    settling = asyncio.create_task(
        settled(a_settler(flaky, kind, clock), attempted(lease, kind, Completed("ten pictures")))
    )
    await until(lambda: flaky.lost_answers == 0 and clock.sleeping == 1)
    await clock.advance(1)
    assert await settling is Outcome.COMPLETED
    assert told.applied == [(lease.job_id, "ten pictures")]
    assert len(await table(flaky, "jobs_done")) == 1


async def test_a_job_of_a_kind_that_nobody_here_knows_fails_with_its_name(
    db: Database, clock: FakeClock
) -> None:
    lease = await a_lease(db, kind="from the future")
    unknown = Attempted(Hold(lease, 0.0, TIMES), None, Failed("no handler", Outcome.UNHANDLED))
    outcome = await settled(a_settler(db, a_kind(Told()), clock), unknown)
    assert outcome is Outcome.UNHANDLED
    assert [row["outcome"] for row in await table(db, "jobs_done")] == ["unhandled"]


async def test_a_lease_that_is_over_does_not_take_its_batch_along(
    db: Database, clock: FakeClock
) -> None:
    kind = a_kind(Told(), settling=Settling.TOGETHER)
    await enqueued(db, a_job(), a_job())
    late, fresh = await claimed(db)
    settler = a_settler(db, kind, clock)
    too_late = Attempted(Hold(late, -TIMES.trusted_until(0.0), TIMES), kind, Completed())
    async with asyncio.TaskGroup() as group:
        left = group.create_task(settled(settler, too_late))
        other = group.create_task(settled(settler, attempted(fresh, kind, Completed())))
        await until(lambda: left.done() or clock.sleeping > 0)
        await clock.advance(1)
    assert (left.result(), other.result()) == (None, Outcome.COMPLETED)


async def test_a_batch_that_takes_longer_than_a_statement_may_is_settled_one_by_one(
    db: Database, clock: FakeClock
) -> None:
    async def is_slow(tx: Tx, settled: Sequence[Settled]) -> None:
        await tx.execute(text(f"SET LOCAL statement_timeout = {ALLOWED_MS}"))
        await tx.execute(text(f"SELECT pg_sleep({len(settled) * EACH_MS / 1000})"))

    kind = a_kind(Told(), settling=Settling.TOGETHER, apply=is_slow)
    assert await settle_side_by_side(db, kind, clock, jobs=4) == [Outcome.COMPLETED] * 4


async def settle_side_by_side(
    db: Database, kind: JobKind, clock: FakeClock, *, jobs: int
) -> list[Outcome | None]:
    await enqueued(db, *[a_job(payload={"shard": number}) for number in range(jobs)])
    settler = a_settler(db, kind, clock)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(settled(settler, attempted(lease, kind, Completed())))
            for lease in await claimed(db)
        ]
    return [task.result() for task in tasks]
