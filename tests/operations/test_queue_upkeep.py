"""Old maintenance is raised, old history is dropped, and nothing that is young is touched."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.operations.queue_upkeep import forget_history, look_after_queue
from storyshelf.queue import store
from storyshelf.queue.job import Completed, Priority
from storyshelf.queue.store.forget import forget_ended
from tests.queue.builders import a_job, claimed, enqueued, run, table

LOW = Priority.MAINTENANCE
MONTH = timedelta(days=30)
TEN_MINUTES_PASS = """
UPDATE jobs SET enqueued_at = enqueued_at - interval '11 minutes',
    run_at = run_at - interval '11 minutes'
"""


async def raised(db: Database) -> int:
    """Look after the queue, and return how many jobs were raised by it."""
    before = await standing(db)
    await look_after_queue(db)
    return sum(one != other for one, other in zip(before, await standing(db), strict=True))


async def standing(db: Database) -> Sequence[Any]:
    return [(row["priority"], row["fair_tag"]) for row in await table(db, "jobs")]


async def settled(db: Database) -> None:
    """End whatever is claimed."""
    for lease in await claimed(db, free={"capture@x": 1000}):
        async with db.transaction() as tx:
            await store.settle(tx, [(lease, Completed())])


async def test_maintenance_that_waits_for_long_goes_among_the_first_of_the_next_class(
    db: Database,
) -> None:
    (old,) = await enqueued(db, a_job(priority=LOW))
    await run(db, TEN_MINUTES_PASS)
    await enqueued(db, *[a_job(project_id=ProjectId(1))] * 5)
    assert await raised(db) == 1
    ids = [lease.job_id for lease in await claimed(db, free={"capture@x": 1})]
    assert ids == [old]


async def test_what_has_not_waited_for_long_keeps_its_class(db: Database) -> None:
    await enqueued(db, a_job(priority=LOW))
    assert await raised(db) == 0
    assert await standing(db) == [(0, 1)]


async def test_ordinary_jobs_are_not_raised_however_long_they_wait(db: Database) -> None:
    await enqueued(db, a_job(), a_job(priority=Priority.INTERACTIVE))
    await run(db, TEN_MINUTES_PASS)
    before = await standing(db)
    assert await raised(db) == 0
    assert await standing(db) == before


async def test_every_lane_is_looked_at(db: Database) -> None:
    lanes = ("a", "b", "c@x", "c@y")
    await enqueued(db, *[a_job(lane=lane, priority=LOW) for lane in lanes])
    await run(db, TEN_MINUTES_PASS)
    assert await raised(db) == 4


async def test_a_lane_without_ordinary_jobs_gives_the_largest_tag_that_was_given_there(
    db: Database,
) -> None:
    await enqueued(db, *[a_job(project_id=ProjectId(1))] * 7)
    await settled(db)
    await enqueued(db, a_job(priority=LOW))
    await run(db, TEN_MINUTES_PASS)
    await look_after_queue(db)
    assert await standing(db) == [(10, 7)]


async def test_what_somebody_is_claiming_is_left_to_him(db: Database) -> None:
    await enqueued(db, a_job(priority=LOW), a_job(priority=LOW))
    await run(db, TEN_MINUTES_PASS)
    async with db.transaction() as tx:
        await tx.connection.exec_driver_sql("SELECT id FROM jobs ORDER BY id LIMIT 1 FOR UPDATE")
        assert await raised(db) == 1


async def test_jobs_that_ended_long_ago_go_with_their_attempts(db: Database) -> None:
    await enqueued(db, a_job(), a_job())
    await settled(db)
    await run(
        db,
        "UPDATE jobs_done SET finished_at = finished_at - interval '31 days',"
        " enqueued_at = enqueued_at - interval '31 days'",
    )
    (young,) = await enqueued(db, a_job())
    await settled(db)
    assert await forget_history(db, MONTH) == 2
    assert [row["id"] for row in await table(db, "jobs_done")] == [young]
    assert [row["job_id"] for row in await table(db, "job_attempts")] == [young]


async def test_the_attempts_of_a_job_that_still_waits_stay(db: Database) -> None:
    await enqueued(db, a_job())
    await claimed(db)
    await run(db, "UPDATE jobs SET lease_expires_at = now() - interval '1 second'")
    async with db.transaction() as tx:
        await store.requeue_expired(tx, limit=10)
    await run(db, "UPDATE job_attempts SET ended_at = ended_at - interval '99 days'")
    assert await forget_history(db, MONTH) == 0
    assert len(await table(db, "job_attempts")) == 1


async def test_one_that_ended_late_does_not_hide_the_old_ones_behind_it(db: Database) -> None:
    await enqueued(db, *[a_job()] * 9)
    await settled(db)
    await run(db, "UPDATE jobs_done SET enqueued_at = enqueued_at - interval '40 days'")
    await run(
        db,
        "UPDATE jobs_done SET finished_at = finished_at - interval '35 days'"
        " WHERE id > (SELECT min(id) + 3 FROM jobs_done)",
    )
    assert await forget_history(db, MONTH, page_size=2) == 5
    assert len(await table(db, "jobs_done")) == 4


async def test_behind_a_young_job_nothing_is_read(db: Database) -> None:
    await enqueued(db, *[a_job()] * 3)
    await settled(db)
    async with db.transaction() as tx:
        found = await forget_ended(tx, MONTH, after=0, limit=1)
    assert (found.jobs, found.last) == (0, None)
