from storyshelf.db.engine import Database
from storyshelf.ids import BuildId
from storyshelf.queue import store
from storyshelf.queue.job import Completed, JobState, Outcome
from tests.queue.builders import ANN, a_job, a_lease, claimed, enqueued

BUILD = BuildId(3)


async def test_live_jobs_of_a_build_say_who_works_on_them(db: Database) -> None:
    await enqueued(db, a_job(build_id=BUILD), a_job(build_id=BUILD), a_job(build_id=BuildId(4)))
    await claimed(db, free={"capture@x": 1})
    async with db.transaction() as tx:
        running, queued = await store.live_jobs(tx, BUILD)
    assert (running.state, running.consumer_id, running.attempt) == (JobState.RUNNING, ANN, 1)
    assert (queued.state, queued.consumer_id, queued.attempt) == (JobState.QUEUED, None, 0)


async def test_a_job_is_live_until_it_is_settled(db: Database) -> None:
    lease = await a_lease(db)
    async with db.transaction() as tx:
        assert await store.is_live(tx, lease.job_id)
        await store.settle(tx, [(lease, Completed())])
        assert not await store.is_live(tx, lease.job_id)


async def test_attempts_are_told_by_job_and_number(db: Database) -> None:
    lease = await a_lease(db)
    async with db.transaction() as tx:
        await store.settle(tx, [(lease, Completed())])
        (attempt,) = await store.attempts_of(tx, [lease.job_id])
    assert (attempt.job_id, attempt.attempt, attempt.consumer_id) == (lease.job_id, 1, ANN)
    assert attempt.outcome is Outcome.COMPLETED
    assert attempt.started_at is not None
    assert attempt.started_at <= attempt.ended_at
