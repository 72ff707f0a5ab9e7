"""Lists of jobs: in what order they come, and that pages neither skip nor repeat."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest

from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId, ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import Failed, JobState, Outcome, Priority
from storyshelf.queue.store import LaneTurn, ProjectTurn, UnfinishedJob
from tests.queue.builders import ANN, a_job, a_lease, claimed, enqueued, run

HIGH, LOW = Priority.INTERACTIVE, Priority.MAINTENANCE
Page = Callable[[Tx, UnfinishedJob | None], Awaitable[Sequence[UnfinishedJob]]]


async def pages(db: Database, page: Page) -> list[JobId]:
    """Follow a list to its end, a page after the other."""
    seen: list[JobId] = []
    last: UnfinishedJob | None = None
    while True:
        async with db.transaction() as tx:
            found = await page(tx, last)
        if not found:
            return seen
        seen += [job.job_id for job in found]
        last = found[-1]


async def test_queued_jobs_come_by_lane_and_in_the_order_in_which_they_are_claimed(
    db: Database,
) -> None:
    b_low, b, a, a_high, b_high = await enqueued(
        db,
        a_job(lane="b", priority=LOW),
        a_job(lane="b"),
        a_job(lane="a"),
        a_job(lane="a", priority=HIGH),
        a_job(lane="b", priority=HIGH),
    )

    async def page(tx: Tx, last: UnfinishedJob | None) -> Sequence[UnfinishedJob]:
        turn = LaneTurn() if last is None else turn_of(last)
        return await store.queued_jobs(tx, after=turn, limit=2)

    assert await pages(db, page) == [a_high, a, b_high, b, b_low]


async def test_a_lane_is_listed_as_fairness_has_it(db: Database) -> None:
    of_one = await enqueued(db, *(a_job(project_id=ProjectId(1)) for _ in range(3)))
    (of_other,) = await enqueued(db, a_job(project_id=ProjectId(2)))

    async def page(tx: Tx, last: UnfinishedJob | None) -> Sequence[UnfinishedJob]:
        turn = LaneTurn() if last is None else turn_of(last)
        return await store.queued_jobs(tx, after=turn, limit=1)

    listed = await pages(db, page)
    taken = [(await claimed(db, free={"capture@x": 1}))[0].job_id for _ in listed]
    assert listed == taken == [of_one[0], of_other, *of_one[1:]]


async def test_parked_jobs_come_by_project(db: Database) -> None:
    jobs = [
        a_job(project_id=ProjectId(project), priority=priority)
        for project in (2, 1)
        for priority in (LOW, HIGH)
    ]
    two_low, two_high, one_low, one_high = await enqueued(db, *jobs)
    await run(db, "UPDATE jobs SET state = 'parked'")

    async def page(tx: Tx, last: UnfinishedJob | None) -> Sequence[UnfinishedJob]:
        if last is None:
            return await store.parked_jobs(tx, after=ProjectTurn(), limit=1)
        assert last.project_id is not None
        after = ProjectTurn(last.project_id, last.priority, last.fair_tag, last.job_id)
        return await store.parked_jobs(tx, after=after, limit=1)

    assert await pages(db, page) == [one_high, one_low, two_high, two_low]


async def test_deferred_jobs_come_by_when_they_are_due(db: Database) -> None:
    late, soon, sooner = await enqueued(
        db, *(a_job(delay=timedelta(hours=hours)) for hours in (3, 2, 1))
    )

    async def page(tx: Tx, last: UnfinishedJob | None) -> Sequence[UnfinishedJob]:
        after = None if last is None else (last.run_at, last.job_id)
        return await store.deferred_jobs(tx, after=after, limit=2)

    assert await pages(db, page) == [sooner, soon, late]


async def test_the_first_of_each_class_are_told_and_no_more(db: Database) -> None:
    first, second, _third, high = await enqueued(
        db, a_job(), a_job(), a_job(), a_job(priority=HIGH)
    )
    await enqueued(db, a_job(lane="other"))
    wanted = [("capture@x", HIGH), ("capture@x", Priority.DEFAULT), ("none", HIGH)]
    async with db.transaction() as tx:
        found = await store.first_of_lanes(tx, wanted, each=2)
        assert await store.first_of_lanes(tx, [], each=2) == ()
    assert [job.job_id for job in found] == [high, first, second]


async def test_a_job_is_known_while_it_waits_runs_and_after_it_has_ended(db: Database) -> None:
    (job_id,) = await enqueued(db, a_job())
    assert (await known(db, job_id)).state is JobState.QUEUED
    async with db.transaction() as tx:
        (lease,) = (await store.claim(tx, ANN, {"capture@x": 1}, timedelta(seconds=60))).leases
    runs = await known(db, job_id)
    assert (runs.state, runs.consumer_id, runs.outcome) == (JobState.RUNNING, ANN, None)
    async with db.transaction() as tx:
        await store.settle(tx, [(lease, Failed("broke", Outcome.CRASHED))])
    ended = await known(db, job_id)
    assert (ended.state, ended.outcome) == (JobState.FAILED, Outcome.CRASHED)
    assert (ended.error, ended.payload) == ("broke", {"shard": 1})
    async with db.transaction() as tx:
        assert await store.known_job(tx, JobId(job_id + 1)) is None


async def test_failed_jobs_are_paged_by_when_they_ended(db: Database) -> None:
    ids = []
    for _ in range(3):
        lease = await a_lease(db)
        async with db.transaction() as tx:
            await store.settle(tx, [(lease, Failed("no"))])
        ids.append(lease.job_id)
    await run(db, "UPDATE jobs_done SET finished_at = now()")  # at one moment: their ids decide
    async with db.transaction() as tx:
        first = await store.failed_jobs(tx, before=None, limit=2)
        last = first[-1]
        rest = await store.failed_jobs(tx, before=(last.finished_at, last.job_id), limit=2)
    assert [job.job_id for job in (*first, *rest)] == ids[::-1]


async def known(db: Database, job_id: JobId) -> store.KnownJob:
    async with db.transaction() as tx:
        found = await store.known_job(tx, job_id)
    assert found is not None
    return found


def turn_of(job: UnfinishedJob) -> LaneTurn:
    return LaneTurn(job.lane, job.priority, job.fair_tag, job.job_id)


@pytest.mark.parametrize("limit", [1, 2, 7])
async def test_no_page_size_loses_a_job(db: Database, limit: int) -> None:
    jobs = [
        a_job(lane=lane, priority=priority)
        for lane in ("a", "b", "c")
        for priority in Priority
        for _ in range(2)
    ]
    ids = await enqueued(db, *jobs)

    async def page(tx: Tx, last: UnfinishedJob | None) -> Sequence[UnfinishedJob]:
        turn = LaneTurn() if last is None else turn_of(last)
        return await store.queued_jobs(tx, after=turn, limit=limit)

    seen = await pages(db, page)
    assert (len(seen), {*seen}) == (len(ids), {*ids})
