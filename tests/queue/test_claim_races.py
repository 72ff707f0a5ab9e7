"""Two of everything at the same time: transactions that are open together, and stale tokens."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack

from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.job import Completed, Failed, Lease, Requeued
from tests.queue.builders import (
    ANN,
    BOB,
    LEASE_FOR,
    a_job,
    a_lease,
    claimed,
    enqueued,
    let_leases_run_out,
    table,
)

CLAIMERS = 16
JOBS = 400


async def test_two_open_claims_share_nothing(db: Database) -> None:
    await enqueued(db, *[a_job()] * 3)
    async with db.transaction() as first, db.transaction() as second:
        one = await store.claim(first, ANN, {"capture@x": 2}, LEASE_FOR)
        other = await store.claim(second, BOB, {"capture@x": 2}, LEASE_FOR)
    assert [len(one.leases), len(other.leases)] == [2, 1]
    assert ids_of(one.leases).isdisjoint(ids_of(other.leases))


async def test_two_open_claims_do_not_take_over_the_same_expired_lease(db: Database) -> None:
    await a_lease(db)
    await let_leases_run_out(db)
    async with db.transaction() as first, db.transaction() as second:
        assert len((await store.claim(first, ANN, {"capture@x": 1}, LEASE_FOR)).leases) == 1
        assert (await store.claim(second, BOB, {"capture@x": 1}, LEASE_FOR)).leases == ()


async def test_a_claim_that_is_rolled_back_leaves_its_jobs_ready(db: Database) -> None:
    await enqueued(db, a_job())
    async with db.engine.connect() as connection, connection.begin() as begun:
        await store.claim(Tx(connection), ANN, {"capture@x": 1}, LEASE_FOR)
        await begun.rollback()
    (lease,) = await claimed(db, BOB)
    assert lease.attempt == 1


async def test_sixteen_claimers_never_take_one_job_twice(database_url: str, db: Database) -> None:
    await enqueued(db, *[a_job()] * JOBS)
    async with AsyncExitStack() as stack:
        claimers = [await own_database(stack, database_url) for _ in range(CLAIMERS)]
        together = asyncio.Barrier(CLAIMERS)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(claim_all(each, ConsumerId(f"claimer {number}"), together))
                for number, each in enumerate(claimers)
            ]
    taken = Counter(job_id for task in tasks for job_id in task.result())
    assert len(taken) == JOBS
    assert set(taken.values()) == {1}
    assert {row["attempt"] for row in await table(db, "jobs")} == {1}


async def test_a_worker_that_lost_its_lease_settles_nothing(db: Database) -> None:
    stale = await a_lease(db)
    await let_leases_run_out(db)
    (current,) = await claimed(db, BOB)
    for ending in (Completed(), Failed("late"), Requeued("late")):
        async with db.transaction() as tx:
            assert await store.settle(tx, [(stale, ending)]) == ()
    (row,) = await table(db, "jobs")
    assert (row["state"], row["lease_token"]) == ("running", current.token)
    assert await table(db, "jobs_done") == []
    assert [each["outcome"] for each in await table(db, "job_attempts")] == ["lost"]


async def test_a_stale_lease_is_neither_renewed_nor_seen_as_standing(db: Database) -> None:
    stale = await a_lease(db)
    await let_leases_run_out(db)
    (current,) = await claimed(db, BOB)
    async with db.transaction() as tx:
        assert await store.renew(tx, [stale], LEASE_FOR) == ()
        assert [each.token for each in await store.check(tx, [stale, current])] == [current.token]


async def test_a_settle_that_waits_for_another_of_the_same_job_finds_it_gone(
    database_url: str, db: Database
) -> None:
    lease = await a_lease(db)
    async with AsyncExitStack() as stack:
        other = await own_database(stack, database_url)
        async with db.transaction() as first:
            assert len(await store.settle(first, [(lease, Completed())])) == 1
            late = asyncio.create_task(settle_alone(other, lease))
            await until_somebody_waits_for_a_lock(db)
        assert await late == 0
    assert [row["outcome"] for row in await table(db, "jobs_done")] == ["completed"]


async def test_a_lease_that_is_being_renewed_is_not_taken_over(db: Database) -> None:
    lease = await a_lease(db)
    await let_leases_run_out(db)
    async with db.transaction() as renewing, db.transaction() as claiming:
        await store.renew_for_write(renewing, lease, LEASE_FOR)
        assert (await store.claim(claiming, BOB, {"capture@x": 1}, LEASE_FOR)).leases == ()
        assert await store.requeue_expired(claiming, limit=10) == ()


async def test_a_job_claimed_while_its_build_is_cancelled_is_asked_to_stop(
    database_url: str, db: Database
) -> None:
    await enqueued(db, a_job(build_id=BuildId(7)))
    async with AsyncExitStack() as stack:
        other = await own_database(stack, database_url)
        async with db.transaction() as claiming:
            await store.claim(claiming, ANN, {"capture@x": 1}, LEASE_FOR)
            cancelling = asyncio.create_task(cancel_build(other, BuildId(7)))
            await until_somebody_waits_for_a_lock(db)
        assert await cancelling == ()
    (row,) = await table(db, "jobs")
    assert (row["state"], row["cancel_requested_at"] is not None) == ("running", True)


async def test_two_batches_of_the_same_jobs_in_other_order_do_not_deadlock(
    database_url: str, db: Database
) -> None:
    await enqueued(db, *[a_job()] * 20)
    leases = await claimed(db, free={"capture@x": 20})
    async with AsyncExitStack() as stack:
        other = await own_database(stack, database_url)
        async with asyncio.TaskGroup() as group:
            one = group.create_task(settle_all(db, leases))
            two = group.create_task(settle_all(other, leases[::-1]))
    assert one.result() + two.result() == 20


async def test_two_enqueues_on_the_same_lanes_in_other_order_do_not_deadlock(
    database_url: str, db: Database
) -> None:
    jobs = [a_job(lane=f"lane {number}") for number in range(20)]
    async with AsyncExitStack() as stack:
        other = await own_database(stack, database_url)
        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(enqueued(db, *jobs))
                group.create_task(enqueued(other, *jobs[::-1]))
    assert len(await table(db, "jobs")) == 400


async def test_concurrent_enqueues_of_one_project_never_share_a_tag(
    database_url: str, db: Database
) -> None:
    async with AsyncExitStack() as stack:
        other = await own_database(stack, database_url)
        async with asyncio.TaskGroup() as group:
            for each in (db, other) * 10:
                group.create_task(enqueued(each, *[a_job()] * 5))
    tags = [row["fair_tag"] for row in await table(db, "jobs")]
    assert len(set(tags)) == len(tags) == 100


async def claim_all(db: Database, consumer: ConsumerId, together: asyncio.Barrier) -> list[JobId]:
    await together.wait()
    taken: list[JobId] = []
    while leases := await claimed(db, consumer, {"capture@x": 3}):
        taken.extend(lease.job_id for lease in leases)
    return taken


async def settle_alone(db: Database, lease: Lease) -> int:
    return await settle_all(db, [lease])


async def settle_all(db: Database, leases: Sequence[Lease]) -> int:
    async with db.transaction() as tx:
        return len(await store.settle(tx, [(lease, Completed()) for lease in leases]))


async def cancel_build(db: Database, build_id: BuildId) -> tuple[object, ...]:
    async with db.transaction() as tx:
        return await store.cancel_build_jobs(tx, build_id, older_than_generation=None)


async def own_database(stack: AsyncExitStack, url: str) -> Database:
    database = Database(url, pool_size=2)
    stack.push_async_callback(database.close)
    return database


async def until_somebody_waits_for_a_lock(db: Database) -> None:
    """Return once a backend of this database is blocked by another."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with db.engine.connect() as connection:
        while not (await connection.execute(waiting)).scalar_one():
            await connection.rollback()


def ids_of(leases: Sequence[Lease]) -> set[JobId]:
    return {lease.job_id for lease in leases}
