from collections.abc import Sequence

from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.expiry import Chore, ExpiryTimer, end_overdue, requeue_expired
from storyshelf.queue.job import EndedJob, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store.cancel import CANCELLED_ON_REQUEST
from storyshelf.queue.store.expire import GAVE_UP
from storyshelf.queue.tally import Tally
from tests.fakes import FakeClock
from tests.queue.builders import a_job, a_lease, claimed, enqueued, let_leases_run_out, table
from tests.queue.kinds import Told, a_kind


async def test_a_job_whose_consumers_died_as_often_as_allowed_ends_failed(db: Database) -> None:
    told = Told()
    lease = await a_lease(db, max_attempts=2)
    await let_leases_run_out(db)
    await claimed(db)
    await let_leases_run_out(db)
    assert await end_overdue(db, JobKinds([a_kind(told)])) == 1
    assert told.endings == [(lease.job_id, Outcome.FAILED, GAVE_UP)]
    (done,) = await table(db, "jobs_done")
    assert (done["state"], done["attempt"], done["error"]) == ("failed", 2, GAVE_UP)


async def test_a_cancelled_job_whose_consumer_died_ends_cancelled_whatever_is_left(
    db: Database,
) -> None:
    told = Told()
    lease = await a_lease(db, max_attempts=9)
    async with db.transaction() as tx:
        await store.cancel_jobs(tx, [lease.job_id])
    await let_leases_run_out(db)
    assert await requeue_expired(db) == 0
    assert await end_overdue(db, JobKinds([a_kind(told)])) == 1
    assert told.endings == [(lease.job_id, Outcome.CANCELLED, CANCELLED_ON_REQUEST)]


async def test_a_lease_that_stands_is_left_alone(db: Database) -> None:
    await a_lease(db, max_attempts=1)
    assert await requeue_expired(db) == 0
    assert await end_overdue(db, JobKinds([a_kind(Told())])) == 0


async def test_an_expired_job_with_attempts_left_goes_back_and_is_announced(db: Database) -> None:
    lease = await a_lease(db)
    await let_leases_run_out(db)
    heard: list[frozenset[str]] = []
    db.announce = heard.append
    assert await requeue_expired(db) == 1
    assert heard == [frozenset({"work"})]
    (row,) = await table(db, "jobs")
    assert (row["id"], row["state"], row["charged"]) == (lease.job_id, "queued", 1)
    assert [each["outcome"] for each in await table(db, "job_attempts")] == ["lost"]


async def test_a_job_that_nobody_here_can_end_does_not_keep_the_others(db: Database) -> None:
    unknown = await a_lease(db, kind="from the future", max_attempts=1)
    known = await a_lease(db, max_attempts=1)
    await let_leases_run_out(db)
    assert await end_overdue(db, JobKinds([a_kind(Told())])) == 1
    assert [row["id"] for row in await table(db, "jobs_done")] == [known.job_id]
    assert [row["id"] for row in await table(db, "jobs")] == [unknown.job_id]


async def test_a_job_stays_when_its_kind_cannot_end_it(db: Database) -> None:
    async def refuse(tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
        raise LookupError

    await a_lease(db, max_attempts=1)
    await let_leases_run_out(db)
    assert await end_overdue(db, JobKinds([a_kind(Told(), ended=refuse)])) == 0
    assert len(await table(db, "jobs")) == 1
    assert await table(db, "jobs_done") == []


async def test_jobs_that_end_alike_end_together_and_others_in_a_transaction_of_their_own(
    db: Database,
) -> None:
    """What each of them locks is in order then."""
    told: list[tuple[Tx, Outcome, int]] = []

    async def note(tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
        told.append((tx, outcome, len(jobs)))

    (cancelled, *_) = await enqueued(db, *[a_job(max_attempts=1)] * 3)
    await claimed(db)
    async with db.transaction() as tx:
        await store.cancel_jobs(tx, [cancelled] if cancelled else [])
    await let_leases_run_out(db)
    assert await end_overdue(db, JobKinds([a_kind(Told(), ended=note)])) == 3
    (first, *one), (second, *two) = told
    assert (one, two) == ([Outcome.CANCELLED, 1], [Outcome.FAILED, 2])
    assert first is not second


async def test_a_pass_ends_what_is_overdue_and_does_what_others_have_on_the_timer(
    db: Database,
) -> None:
    async def unsealed_uploads() -> None:
        others.append("uploads")

    async def broken() -> None:
        raise LookupError

    others: list[str] = []
    told = Told()
    await enqueued(db, a_job(), a_job(max_attempts=1))
    await claimed(db)
    await let_leases_run_out(db)
    kinds = JobKinds([a_kind(told)])
    timer = ExpiryTimer(db, kinds, FakeClock(), lambda: 0.0, (broken, unsealed_uploads))
    await timer.run_once()
    assert [row["state"] for row in await table(db, "jobs")] == ["queued"]
    assert len(told.endings) == 1
    assert others == ["uploads"]


def a_chore(done: list[str], name: str, *, look: str = "SELECT 1") -> Chore:
    """What is done if the statement finds something that counts as true."""

    async def act() -> None:
        done.append(name)

    async def ask(tx: Tx) -> object:
        return (await tx.execute(text(look))).scalar_one_or_none()

    return Chore(ask, act)


async def pass_once(db: Database, *also: Chore) -> None:
    await ExpiryTimer(db, JobKinds([]), FakeClock(), lambda: 0.0, also).run_once()


async def test_a_chore_is_done_if_there_is_something_to_do(db: Database) -> None:
    done: list[str] = []
    nothing = "SELECT 1 WHERE false"
    await pass_once(db, a_chore(done, "uploads"), a_chore(done, "sessions", look=nothing))
    assert done == ["uploads"]


async def test_a_look_that_fails_keeps_nothing_from_being_done(db: Database) -> None:
    done: list[str] = []
    nothing = "SELECT 1 WHERE false"
    broken = a_chore(done, "broken", look="SELECT 1 / 0")
    await a_lease(db)
    await let_leases_run_out(db)
    await pass_once(db, broken, a_chore(done, "sessions", look=nothing))
    assert done == ["broken", "sessions"]
    assert [row["state"] for row in await table(db, "jobs")] == ["queued"]


async def test_what_expiry_did_is_counted(db: Database) -> None:
    tally = Tally()
    await enqueued(db, a_job(max_attempts=1), a_job(max_attempts=2))
    await claimed(db)
    await let_leases_run_out(db)
    assert await requeue_expired(db, tally) == 1
    assert await end_overdue(db, JobKinds([a_kind(Told())]), tally) == 1
    assert (tally.taken_over, tally.expired_at_last) == (1, 1)
