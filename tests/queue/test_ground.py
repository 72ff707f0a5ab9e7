"""The queue in memory that the life of a consumer is tested on does what the real one does."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import pytest

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.consumer_side import ConsumerOptions, ground_on
from storyshelf.queue.expiry import end_overdue, requeue_expired
from storyshelf.queue.ground import Ground
from storyshelf.queue.job import (
    Completed,
    Crashed,
    Ending,
    Failed,
    Lease,
    NewJob,
    Outcome,
    Priority,
    Requeued,
    Retried,
)
from storyshelf.queue.job_kind import JobKind, JobKinds
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted
from storyshelf.queue.slots import Offer
from tests.fakes import FakeClock
from tests.queue import attempts
from tests.queue.builders import ANN, a_job, enqueued, let_leases_run_out, table
from tests.queue.kinds import Told, a_kind
from tests.queue.memory_ground import MemoryGround, MemoryQueue

LANE = "capture@x"
NOW = timedelta(0)
ENDINGS: list[Ending] = [
    Completed(),
    Retried(NOW, "again"),
    Requeued("back"),
    Failed("no"),
    Crashed(NOW, "it died"),
]


class Field(Protocol):
    """A ground, and what tests do to the queue below it."""

    kind: JobKind

    @property
    def ground(self) -> Ground: ...
    async def enqueue(self, *jobs: NewJob) -> list[JobId]: ...
    async def cancel(self, job_id: JobId) -> None: ...
    async def run_out(self) -> None: ...
    async def expire(self) -> None: ...
    async def standing(self) -> dict[JobId, tuple[str, int, int]]: ...
    async def ended(self) -> dict[JobId, str]: ...


@dataclass
class InMemory:
    ground: MemoryGround
    kind: JobKind
    clock: FakeClock

    async def enqueue(self, *jobs: NewJob) -> list[JobId]:
        return self.ground.queue.enqueue(*jobs)

    async def cancel(self, job_id: JobId) -> None:
        self.ground.queue.cancel(job_id)

    async def run_out(self) -> None:
        await self.clock.advance(61)

    async def expire(self) -> None:
        self.ground.queue.expire()

    async def standing(self) -> dict[JobId, tuple[str, int, int]]:
        jobs = self.ground.queue.jobs.values()
        return {job.id: (job.state, job.attempt, job.charged) for job in jobs}

    async def ended(self) -> dict[JobId, str]:
        return {job_id: outcome.value for job_id, outcome in self.ground.queue.done.items()}


@dataclass
class OnDatabase:
    ground: Ground
    kind: JobKind
    db: Database

    async def enqueue(self, *jobs: NewJob) -> list[JobId]:
        return list(await enqueued(self.db, *jobs))

    async def cancel(self, job_id: JobId) -> None:
        async with self.db.transaction() as tx:
            await store.cancel_jobs(tx, [job_id])

    async def run_out(self) -> None:
        await let_leases_run_out(self.db)

    async def expire(self) -> None:
        await requeue_expired(self.db)
        await end_overdue(self.db, JobKinds([self.kind]))

    async def standing(self) -> dict[JobId, tuple[str, int, int]]:
        rows = await table(self.db, "jobs")
        return {row["id"]: (row["state"], row["attempt"], row["charged"]) for row in rows}

    async def ended(self) -> dict[JobId, str]:
        return {row["id"]: row["outcome"] for row in await table(self.db, "jobs_done")}


@pytest.fixture(params=["memory", "database"])
async def field(request: pytest.FixtureRequest, db: Database) -> AsyncIterator[Field]:
    kind = a_kind(Told())
    if request.param == "memory":
        clock = FakeClock()
        yield InMemory(MemoryGround(MemoryQueue(clock), ANN), kind, clock)
        return
    options = ConsumerOptions(consumer_id=ANN, places={}, clock=SystemClock(), draw=lambda: 0.0)
    ground = ground_on(db, JobKinds([kind]), options)
    yield OnDatabase(ground, kind, db)
    await ground.close()


async def claimed(field: Field, places: int = 1) -> list[Lease]:
    return list((await field.ground.claim({LANE: Offer(places, places)})).leases)


async def settled(field: Field, lease: Lease, ending: Ending) -> Outcome | None:
    hold = Hold(lease, SystemClock().monotonic(), LeaseTimes())
    return await attempts.settled(field.ground, Attempted(hold, field.kind, ending))


async def test_a_claim_takes_no_more_than_there_are_places(field: Field) -> None:
    ids = await field.enqueue(*[a_job()] * 3)
    assert [lease.job_id for lease in await claimed(field, 2)] == ids[:2]


async def test_what_somebody_waits_for_goes_first(field: Field) -> None:
    _, urgent = await field.enqueue(a_job(), a_job(priority=Priority.INTERACTIVE))
    assert [lease.job_id for lease in await claimed(field)] == [urgent]


async def test_a_claim_charges_an_attempt(field: Field) -> None:
    (job_id,) = await field.enqueue(a_job())
    (lease,) = await claimed(field)
    assert (lease.attempt, lease.charged) == (1, 1)
    assert await field.standing() == {job_id: ("running", 1, 1)}


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: type(ending).__name__)
@pytest.mark.parametrize("limit", [1, 2])
async def test_each_ending_leads_where_it_should(field: Field, ending: Ending, limit: int) -> None:
    (job_id,) = await field.enqueue(a_job(max_attempts=limit))
    (lease,) = await claimed(field)
    outcome = await settled(field, lease, ending)
    assert (outcome, await field.standing(), await field.ended()) == expected(job_id, ending, limit)


def expected(  # noqa: PLR0911  # one an ending
    job_id: JobId, ending: Ending, limit: int
) -> tuple[Outcome, dict[JobId, tuple[str, int, int]], dict[JobId, str]]:
    back = {job_id: ("deferred", 1, 1)}
    match ending:
        case Completed():
            return Outcome.COMPLETED, {}, {job_id: "completed"}
        case Requeued():
            return Outcome.RELEASED, {job_id: ("queued", 1, 0)}, {}
        case Retried() if limit > 1:
            return Outcome.RETRIED, back, {}
        case Crashed() if limit > 1:
            return Outcome.CRASHED, back, {}
        case Crashed():
            return Outcome.CRASHED, {}, {job_id: "crashed"}
        case Retried() | Failed():
            return Outcome.FAILED, {}, {job_id: "failed"}


async def test_a_lease_that_ran_out_is_given_to_the_next_claim(field: Field) -> None:
    (job_id,) = await field.enqueue(a_job())
    (stale,) = await claimed(field)
    await field.run_out()
    (fresh,) = await claimed(field)
    assert (fresh.job_id, fresh.attempt) == (job_id, 2)
    assert await settled(field, stale, Completed()) is None
    assert await settled(field, fresh, Completed()) is Outcome.COMPLETED


async def test_the_last_lease_that_ran_out_ends_the_job(field: Field) -> None:
    (job_id,) = await field.enqueue(a_job(max_attempts=1))
    await claimed(field)
    await field.run_out()
    assert await claimed(field) == []
    await field.expire()
    assert await field.ended() == {job_id: "failed"}


async def test_a_lost_lease_does_not_stand(field: Field) -> None:
    await field.enqueue(a_job())
    (stale,) = await claimed(field)
    assert [each.job_id for each in await field.ground.ask([], [stale])] == [stale.job_id]
    await field.run_out()
    await claimed(field)
    assert list(await field.ground.ask([stale], [])) == []


async def test_a_cancel_ends_what_waits_and_is_seen_by_what_runs(field: Field) -> None:
    running, waiting = await field.enqueue(a_job(), a_job())
    (lease,) = await claimed(field)
    for job_id in (running, waiting):
        await field.cancel(job_id)
    assert await field.ended() == {waiting: "cancelled"}
    assert [each.cancel_requested for each in await field.ground.ask([], [lease])] == [True]
    assert await settled(field, lease, Retried(NOW, "again")) is Outcome.CANCELLED


async def test_a_deferred_job_is_ready_for_the_claim_after_it_was_due(field: Field) -> None:
    (job_id,) = await field.enqueue(a_job())
    (lease,) = await claimed(field)
    await settled(field, lease, Retried(NOW, "again"))
    found = await field.ground.claim({LANE: Offer(1, 1)})
    assert (found.leases, found.next_due_s) == ((), 0.0)
    assert [lease.job_id for lease in await claimed(field)] == [job_id]
