from datetime import timedelta

from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, JobId
from storyshelf.queue import store
from tests.queue.builders import a_job, claimed, enqueued, let_leases_run_out, table

BUILD, OTHER = BuildId(3), BuildId(4)


async def cancelled(db: Database, build_id: BuildId, older_than: int | None = None) -> list[JobId]:
    async with db.transaction() as tx:
        jobs = await store.cancel_build_jobs(tx, build_id, older_than_generation=older_than)
    return [job.job_id for job in jobs]


async def test_waiting_jobs_of_the_build_end_at_once(db: Database) -> None:
    queued, deferred, other = await enqueued(
        db,
        a_job(build_id=BUILD),
        a_job(build_id=BUILD, delay=timedelta(hours=1)),
        a_job(build_id=OTHER),
    )
    assert await cancelled(db, BUILD) == [queued, deferred]
    assert [row["id"] for row in await table(db, "jobs")] == [other]
    assert {row["outcome"] for row in await table(db, "jobs_done")} == {"cancelled"}


async def test_a_running_job_is_asked_to_stop_and_stays_asked(db: Database) -> None:
    await enqueued(db, a_job(build_id=BUILD))
    (lease,) = await claimed(db)
    assert await cancelled(db, BUILD) == []
    (first,) = await table(db, "jobs")
    assert await cancelled(db, BUILD) == []
    (again,) = await table(db, "jobs")
    assert first["cancel_requested_at"] == again["cancel_requested_at"] is not None
    async with db.transaction() as tx:
        (standing,) = await store.check(tx, [lease])
        (renewed,) = await store.renew(tx, [lease], timedelta(seconds=60))
    assert standing.cancel_requested
    assert renewed.cancel_requested


async def test_only_older_generations_are_cancelled_when_asked_for_those(db: Database) -> None:
    old, _ = await enqueued(
        db, a_job(build_id=BUILD, generation=1), a_job(build_id=BUILD, generation=2)
    )
    assert await cancelled(db, BUILD, older_than=2) == [old]


async def test_the_kind_is_told_what_the_job_was(db: Database) -> None:
    await enqueued(db, a_job(build_id=BUILD, generation=5, payload={"shard": 9}))
    async with db.transaction() as tx:
        (job,) = await store.cancel_build_jobs(tx, BUILD, older_than_generation=None)
    assert (job.kind, job.generation, job.payload) == ("capture", 5, {"shard": 9})


async def test_a_cancel_is_announced(db: Database) -> None:
    heard: list[frozenset[str]] = []
    db.announce = heard.append
    await cancelled(db, BUILD)
    assert heard == [frozenset({"cancel"})]


async def test_a_job_that_waits_for_another_attempt_keeps_its_history(db: Database) -> None:
    (job_id,) = await enqueued(db, a_job(build_id=BUILD))
    await claimed(db)
    await let_leases_run_out(db)
    async with db.transaction() as tx:
        await store.requeue_expired(tx, limit=1)
    assert await cancelled(db, BUILD) == [job_id]
    (done,) = await table(db, "jobs_done")
    assert (done["state"], done["attempt"]) == ("cancelled", 1)
