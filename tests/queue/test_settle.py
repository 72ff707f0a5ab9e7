from datetime import timedelta

import pytest

from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.job import (
    Completed,
    Ending,
    Failed,
    Lease,
    LeaseLostError,
    Outcome,
    Requeued,
    Retried,
)
from tests.queue.builders import (
    BOB,
    LEASE_FOR,
    a_job,
    a_lease,
    claimed,
    enqueued,
    let_deferred_jobs_be_due,
    let_leases_run_out,
    table,
)

RETRY = Retried(after=timedelta(seconds=5), error="timeout")


async def settled(db: Database, lease: Lease, ending: Ending) -> list[Outcome]:
    async with db.transaction() as tx:
        return [each.outcome for each in await store.settle(tx, [(lease, ending)])]


async def test_a_completed_job_moves_to_the_cold_table(db: Database) -> None:
    lease = await a_lease(db)
    assert await settled(db, lease, Completed()) == [Outcome.COMPLETED]
    assert await table(db, "jobs") == []
    (done,) = await table(db, "jobs_done")
    assert (done["id"], done["state"], done["lease_token"]) == (lease.job_id, "done", lease.token)
    assert done["run_ms"] >= 0
    assert done["wait_ms"] >= 0


@pytest.mark.parametrize(
    "outcome",
    [Outcome.FAILED, Outcome.UNHANDLED, Outcome.DROPPED, Outcome.CRASHED],
)
async def test_a_failure_keeps_its_word_and_its_reason(db: Database, outcome: Outcome) -> None:
    lease = await a_lease(db)
    await settled(db, lease, Failed("no such story", outcome))
    (done,) = await table(db, "jobs_done")
    assert (done["state"], done["outcome"], done["error"]) == ("failed", outcome, "no such story")


async def test_a_retry_waits_for_its_time_and_keeps_its_charge(db: Database) -> None:
    lease = await a_lease(db)
    assert await settled(db, lease, RETRY) == [Outcome.RETRIED]
    (row,) = await table(db, "jobs")
    assert (row["state"], row["charged"], row["last_error"]) == ("deferred", 1, "timeout")
    assert (row["lease_token"], row["last_token"]) == (None, lease.token)
    assert await claimed(db) == ()
    await let_deferred_jobs_be_due(db)
    await claimed(db)  # promotes it
    (again,) = await claimed(db)
    assert (again.attempt, again.charged) == (2, 2)


async def test_a_retry_beyond_the_limit_is_a_failure_whoever_asked_for_it(db: Database) -> None:
    lease = await a_lease(db, max_attempts=1)
    assert await settled(db, lease, RETRY) == [Outcome.FAILED]


async def test_a_requeued_job_goes_back_uncharged_to_its_old_place(db: Database) -> None:
    lease = await a_lease(db)
    await enqueued(db, a_job())
    await settled(db, lease, Requeued("shutting down"))
    (again,) = await claimed(db, free={"capture@x": 1})
    assert (again.job_id, again.attempt, again.charged) == (lease.job_id, 2, 1)


async def test_recorded_results_take_the_charge_back_once(db: Database) -> None:
    lease = await a_lease(db)
    for _ in range(2):
        async with db.transaction() as tx:
            await store.renew_for_write(tx, lease, LEASE_FOR)
    assert [row["charged"] for row in await table(db, "jobs")] == [0]
    await settled(db, lease, Requeued("another round"))
    assert [row["charged"] for row in await table(db, "jobs")] == [0]


async def test_a_job_that_was_asked_to_stop_gets_no_other_round(db: Database) -> None:
    for ending in (RETRY, Requeued("shutting down")):
        lease = await a_lease(db)
        async with db.transaction() as tx:
            assert await store.cancel_jobs(tx, [lease.job_id]) == ()
        assert await settled(db, lease, ending) == [Outcome.CANCELLED]
    assert [row["state"] for row in await table(db, "jobs_done")] == ["cancelled"] * 2


async def test_each_attempt_leaves_a_row(db: Database) -> None:
    lease = await a_lease(db)
    await settled(db, lease, Requeued("shutting down"))
    (again,) = await claimed(db)
    await let_leases_run_out(db)
    (third,) = await claimed(db, BOB)
    await settled(db, third, Completed())
    async with db.transaction() as tx:
        attempts = await store.attempts_of(tx, [lease.job_id])
    assert [(each.attempt, each.outcome) for each in attempts] == [
        (1, Outcome.RELEASED),
        (again.attempt, Outcome.LOST),
        (3, Outcome.COMPLETED),
    ]
    assert [each.consumer_id for each in attempts][-1] == BOB


async def test_a_batch_of_mixed_endings_settles_in_one_statement(db: Database) -> None:
    await enqueued(db, *[a_job()] * 4)
    leases = await claimed(db)
    endings: list[Ending] = [Completed(), RETRY, Requeued("later"), Failed("no")]
    async with db.transaction() as tx:
        done = await store.settle(tx, list(zip(leases, endings, strict=True)))
    assert [each.outcome for each in done] == ["completed", "retried", "released", "failed"]
    assert [row["state"] for row in await table(db, "jobs")] == ["deferred", "queued"]
    assert [row["state"] for row in await table(db, "jobs_done")] == ["done", "failed"]


async def test_settling_twice_writes_once_and_is_recognised(db: Database) -> None:
    lease = await a_lease(db)
    await settled(db, lease, Completed())
    assert await settled(db, lease, Failed("late")) == []
    async with db.transaction() as tx:
        assert await store.settled_before(tx, [lease]) == {lease.job_id: Outcome.COMPLETED}


async def test_a_retry_whose_answer_was_lost_is_recognised_even_when_another_holds_it(
    db: Database,
) -> None:
    lease = await a_lease(db)
    await settled(db, lease, RETRY)
    await let_deferred_jobs_be_due(db)
    await claimed(db, BOB)
    await claimed(db, BOB)
    async with db.transaction() as tx:
        assert await store.settled_before(tx, [lease]) == {lease.job_id: Outcome.RETRIED}


async def test_a_lost_lease_is_not_mistaken_for_a_settled_one(db: Database) -> None:
    lease = await a_lease(db)
    await let_leases_run_out(db)
    await claimed(db, BOB)
    assert await settled(db, lease, Completed()) == []
    async with db.transaction() as tx:
        assert await store.settled_before(tx, [lease]) == {}


async def test_results_are_refused_once_the_lease_is_gone(db: Database) -> None:
    lease = await a_lease(db)
    await let_leases_run_out(db)
    await claimed(db, BOB)
    with pytest.raises(LeaseLostError):
        async with db.transaction() as tx:
            await store.renew_for_write(tx, lease, LEASE_FOR)


async def test_a_requeued_job_is_announced(db: Database) -> None:
    lease = await a_lease(db)
    heard: list[frozenset[str]] = []
    db.announce = heard.append
    await settled(db, lease, Requeued("shutting down"))
    assert heard == [frozenset({"work"})]
