"""A consumer that boots frees what a dead one of its machine held, and touches nobody else."""

from dataclasses import replace

import pytest

from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId
from storyshelf.queue import store
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.reclaim import Reclaim
from storyshelf.queue.store import Consumer
from storyshelf.queue.store.expire import GAVE_UP
from tests.queue.builders import ANN, BOB, a_job, a_lease, claimed, enqueued, table
from tests.queue.kinds import Told, a_kind

OWN = Consumer(
    id=ConsumerId("cat:3:c"), host="cat", pid=3, version="0.1.0", lanes=(), kinds=(),
    environment_id=None, machine="boot:1", process_started=30,
)  # fmt: skip
DEAD = replace(OWN, id=ANN, pid=1, process_started=10)


def gone(pid: int, start_ticks: int) -> bool:
    """Tell that ANN's process has ended, and no other."""
    return (pid, start_ticks) == (DEAD.pid, DEAD.process_started)


def a_reclaim(db: Database, told: Told | None = None) -> Reclaim:
    return Reclaim(db, JobKinds([a_kind(told or Told())]), OWN, gone)


async def there_are(db: Database, *consumers: Consumer) -> None:
    async with db.transaction() as tx:
        for each in consumers:
            await store.register_consumer(tx, each)


async def known(db: Database) -> list[str]:
    return [row["id"] for row in await table(db, "consumers")]


async def test_jobs_of_a_dead_sibling_can_be_claimed_at_once(db: Database) -> None:
    await there_are(db, OWN, DEAD)
    lease = await a_lease(db)
    heard: list[frozenset[str]] = []
    db.announce = heard.append
    assert await a_reclaim(db).run_once() == 1
    assert await known(db) == [OWN.id]
    assert heard == [frozenset({"work"})]
    (again,) = await claimed(db, OWN.id)
    assert (again.job_id, again.attempt, again.charged) == (lease.job_id, 2, 2)


async def test_its_attempt_was_lost(db: Database) -> None:
    await there_are(db, DEAD)
    lease = await a_lease(db)
    await a_reclaim(db).run_once()
    (attempt,) = await table(db, "job_attempts")
    assert (attempt["job_id"], attempt["consumer_id"]) == (lease.job_id, DEAD.id)
    assert attempt["outcome"] == Outcome.LOST


async def test_what_a_boot_has_freed_is_counted(db: Database) -> None:
    await there_are(db, DEAD)
    await enqueued(db, a_job(), a_job(), a_job(max_attempts=1))
    await claimed(db)
    reclaim = a_reclaim(db)
    await reclaim.run_once()
    assert (reclaim.tally.taken_over, reclaim.tally.expired_at_last) == (2, 1)


async def test_a_job_that_has_no_other_try_ends_and_its_kind_is_told(db: Database) -> None:
    told = Told()
    await there_are(db, DEAD)
    lease = await a_lease(db, max_attempts=1)
    await a_reclaim(db, told).run_once()
    assert told.endings == [(lease.job_id, Outcome.FAILED, GAVE_UP)]
    assert await table(db, "jobs") == []


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(DEAD, pid=2), id="a living process"),
        pytest.param(replace(DEAD, machine="boot:2"), id="in another container of the same name"),
        pytest.param(replace(DEAD, machine=""), id="one that does not know where it runs"),
        pytest.param(replace(DEAD, process_started=0), id="one that does not know its start"),
    ],
)
async def test_nobody_else_is_touched(db: Database, other: Consumer) -> None:
    await there_are(db, OWN, other)
    await a_lease(db)
    assert await a_reclaim(db).run_once() == 0
    assert await known(db) == sorted([OWN.id, other.id])
    assert [row["state"] for row in await table(db, "jobs")] == ["running"]


async def test_jobs_of_the_living_stay_theirs_beside_a_dead_one(db: Database) -> None:
    await there_are(db, OWN, DEAD, replace(DEAD, id=BOB, pid=2))
    mine = await a_lease(db)
    await enqueued(db, a_job())
    (theirs,) = await claimed(db, BOB)
    await a_reclaim(db).run_once()
    states = {row["id"]: row["consumer_id"] for row in await table(db, "jobs")}
    assert states == {mine.job_id: None, theirs.job_id: BOB}


async def test_two_that_boot_at_once_free_a_job_once(db: Database) -> None:
    await there_are(db, DEAD)
    await a_lease(db)
    async with db.transaction() as first, db.transaction() as second:
        assert len(await store.dead.free_leases(first, DEAD.id)) == 1
        assert await store.dead.free_leases(second, DEAD.id) == ()


async def test_a_database_that_is_away_does_not_keep_a_consumer_from_working() -> None:
    nowhere = Database("postgresql://nobody@127.0.0.1:1/nothing")
    await Reclaim(nowhere, JobKinds([]), OWN, gone).run_guarded()
    await nowhere.close()
