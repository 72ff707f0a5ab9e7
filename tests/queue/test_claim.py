from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.job import Claimed, Completed
from tests.queue.builders import (
    ANN,
    BOB,
    LEASE_FOR,
    a_job,
    a_lease,
    claimed,
    enqueued,
    let_deferred_jobs_be_due,
    let_leases_run_out,
    run,
    table,
)


async def test_a_claim_takes_no_more_than_the_free_slots_of_each_lane(db: Database) -> None:
    await enqueued(db, *[a_job()] * 5, *[a_job(lane="build")] * 5)
    leases = await claimed(db, free={"capture@x": 2, "build": 3})
    assert sorted(lease.lane for lease in leases) == ["build"] * 3 + ["capture@x"] * 2


async def test_a_lane_that_is_not_offered_is_left_alone(db: Database) -> None:
    await enqueued(db, a_job(lane="capture@other"))
    assert await claimed(db, free={"capture@x": 5, "build": 0}) == ()


async def test_jobs_of_one_project_go_in_the_order_of_their_arrival(db: Database) -> None:
    ids = await enqueued(db, *[a_job()] * 4)
    assert [(await claimed(db, free={"capture@x": 1}))[0].job_id for _ in ids] == list(ids)


async def test_a_claim_shares_one_token_and_the_next_has_another(db: Database) -> None:
    await enqueued(db, *[a_job()] * 3)
    first = await claimed(db, free={"capture@x": 2})
    second = await claimed(db, free={"capture@x": 2})
    assert len({lease.token for lease in first}) == 1
    assert {lease.token for lease in first}.isdisjoint({lease.token for lease in second})


async def test_a_running_job_is_written_down_with_its_holder(db: Database) -> None:
    lease = await a_lease(db)
    (row,) = await table(db, "jobs")
    assert (row["state"], row["consumer_id"], row["attempt"]) == ("running", ANN, 1)
    assert row["lease_expires_at"] - row["attempt_started_at"] == LEASE_FOR
    assert row["lease_token"] == lease.token


async def test_an_expired_lease_is_taken_before_ready_jobs_and_within_the_slots(
    db: Database,
) -> None:
    old = await a_lease(db)
    await let_leases_run_out(db)
    await enqueued(db, *[a_job()] * 3)
    leases = await claimed(db, BOB, {"capture@x": 2})
    assert len(leases) == 2
    assert old.job_id in {lease.job_id for lease in leases}
    assert {(lease.attempt, lease.charged) for lease in leases} == {(1, 1), (2, 2)}


async def test_a_lease_that_stands_is_not_taken(db: Database) -> None:
    await a_lease(db)
    assert await claimed(db, BOB) == ()


async def test_a_worn_out_or_cancelled_job_is_reported_and_not_taken(db: Database) -> None:
    await a_lease(db, max_attempts=1)
    cancelled = await a_lease(db)
    async with db.transaction() as tx:
        await store.cancel_jobs(tx, [cancelled.job_id])
        assert not (await claim_all(tx)).overdue
    await let_leases_run_out(db)
    async with db.transaction() as tx:
        found = await claim_all(tx)
    assert found.leases == ()
    assert found.overdue


async def test_deferred_jobs_that_are_due_become_ready_on_every_lane(db: Database) -> None:
    await enqueued(db, a_job(lane="build", delay=timedelta(hours=1)))
    await let_deferred_jobs_be_due(db)
    async with db.transaction() as tx:
        found = await claim_all(tx)
    assert (found.leases, found.next_due_s) == ((), 0.0)
    assert len(await claimed(db, free={"build": 1})) == 1


async def test_a_claim_tells_when_the_next_deferred_job_is_due(db: Database) -> None:
    await enqueued(db, a_job(delay=timedelta(minutes=9)), a_job(delay=timedelta(minutes=5)))
    async with db.transaction() as tx:
        found = await claim_all(tx)
    assert found.next_due_s is not None
    assert 290 < found.next_due_s <= 300


async def test_an_empty_queue_has_nothing_due(db: Database) -> None:
    async with db.transaction() as tx:
        assert (await claim_all(tx)).next_due_s is None


async def test_a_claim_does_not_wait_for_the_flush_and_a_settle_does(db: Database) -> None:
    await enqueued(db, a_job())
    async with db.transaction() as tx:
        await tx.execute(text("SET LOCAL synchronous_commit = on"))
        (lease,) = (await claim_all(tx)).leases
        assert await synchronous_commit(tx) == "off"
    async with db.transaction() as tx:
        await tx.execute(text("SET LOCAL synchronous_commit = on"))
        await store.renew_for_write(tx, lease, LEASE_FOR)
        assert await synchronous_commit(tx) == "on"
        await store.settle(tx, [(lease, Completed())])
        assert await synchronous_commit(tx) == "on"


async def test_a_job_survives_any_number_of_deaths_that_came_after_results(db: Database) -> None:
    lease = await a_lease(db, max_attempts=2)
    for _ in range(5):
        async with db.transaction() as tx:
            await store.renew_for_write(tx, lease, LEASE_FOR)
        await let_leases_run_out(db)
        (lease,) = await claimed(db)
    assert (lease.attempt, lease.charged) == (6, 1)


async def test_the_first_start_is_kept_over_attempts(db: Database) -> None:
    await a_lease(db)
    await run(db, "UPDATE jobs SET started_at = now() - interval '1 hour'")
    await let_leases_run_out(db)
    await claimed(db)
    (row,) = await table(db, "jobs")
    assert row["attempt_started_at"] - row["started_at"] > timedelta(minutes=59)


async def claim_all(tx: Tx) -> Claimed:
    return await store.claim(tx, BOB, {"capture@x": 10}, LEASE_FOR)


async def synchronous_commit(tx: Tx) -> str:
    return str((await tx.execute(text("SHOW synchronous_commit"))).scalar_one())
