"""Which of the ready jobs a claim takes: classes, places that are kept, floors."""

from datetime import timedelta

from storyshelf.db.engine import Database
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.job import Priority
from storyshelf.queue.slots import Offer
from tests.queue.builders import (
    ANN,
    LEASE_FOR,
    a_job,
    enqueued,
    let_deferred_jobs_be_due,
    let_leases_run_out,
)

URGENT = a_job(priority=Priority.INTERACTIVE)
NORMAL = a_job()
LATER = a_job(priority=Priority.MAINTENANCE)


async def brought(db: Database, offer: Offer) -> list[JobId]:
    async with db.transaction() as tx:
        found = await store.claim(tx, ANN, {"capture@x": offer}, LEASE_FOR)
    return [lease.job_id for lease in found.leases]


async def test_what_somebody_waits_for_goes_first_and_upkeep_last(db: Database) -> None:
    later, normal, urgent = await enqueued(db, LATER, NORMAL, URGENT)
    order = [await brought(db, Offer(1, 1)) for _ in range(3)]
    assert order == [[urgent], [normal], [later]]


async def test_kept_places_are_filled_by_what_somebody_waits_for_alone(db: Database) -> None:
    *_, urgent = await enqueued(db, NORMAL, LATER, URGENT)
    assert await brought(db, Offer(2, 0)) == [urgent]
    assert await brought(db, Offer(2, 0)) == []


async def test_kept_and_shared_places_are_never_exceeded(db: Database) -> None:
    ids = await enqueued(db, *[URGENT] * 2, *[NORMAL] * 3, *[LATER] * 3)
    assert sorted(await brought(db, Offer(4, 3))) == sorted(ids[:4])
    assert len(await brought(db, Offer(4, 3))) == 3


async def test_a_lost_job_does_not_come_into_a_kept_place(db: Database) -> None:
    await enqueued(db, NORMAL)
    await brought(db, Offer(1, 1))
    await let_leases_run_out(db)
    assert await brought(db, Offer(1, 0)) == []
    assert len(await brought(db, Offer(1, 1))) == 1


async def test_a_floor_leaves_out_what_stands_below_it(db: Database) -> None:
    ids = await enqueued(db, *[NORMAL] * 3)
    assert await brought(db, Offer(3, 3, {Priority.DEFAULT: 2})) == list(ids[1:])


async def test_a_claim_says_what_it_can_not_give_for_the_lease(db: Database) -> None:
    await enqueued(db, URGENT)
    async with db.transaction() as tx:
        (lease,) = (await store.claim(tx, ANN, {"capture@x": 1}, LEASE_FOR)).leases
    assert (lease.priority, lease.fair_tag) == (Priority.INTERACTIVE, 1)
    assert lease.waited_ms >= 0


async def test_what_is_not_handled_here_is_left_to_others(db: Database) -> None:
    _, mine = await enqueued(db, a_job(kind="from the future"), NORMAL)
    async with db.transaction() as tx:
        free = {"capture@x": 2}
        found = await store.claim(tx, ANN, free, LEASE_FOR, kinds=["capture"])
    assert [lease.job_id for lease in found.leases] == [mine]


async def test_nor_is_it_taken_over_or_claimed_in_a_burst(db: Database) -> None:
    await enqueued(db, a_job(kind="from the future"))
    await brought(db, Offer(1, 1))
    await let_leases_run_out(db)
    async with db.transaction() as tx:
        for offer in (Offer(1, 1), Offer(1, 1, {Priority.DEFAULT: 1})):
            found = await store.claim(tx, ANN, {"capture@x": offer}, LEASE_FOR, kinds=["capture"])
            assert found.leases == ()


async def test_what_is_due_is_found_from_a_floor_on(db: Database) -> None:
    (due,) = await enqueued(db, a_job(delay=timedelta(hours=1)))
    await let_deferred_jobs_be_due(db)
    above = Offer(1, 1, {Priority.DEFAULT: 100})
    async with db.transaction() as tx:
        first = await store.claim(tx, ANN, {"capture@x": above}, LEASE_FOR)
    assert (first.leases, first.next_due_s, first.parked) == ((), 0.0, None)
    assert await brought(db, above) == [due]


async def test_a_claim_from_a_floor_says_when_the_next_job_is_due(db: Database) -> None:
    await enqueued(db, a_job(delay=timedelta(minutes=1)))
    async with db.transaction() as tx:
        offer = Offer(1, 1, {Priority.DEFAULT: 5})
        found = await store.claim(tx, ANN, {"capture@x": offer}, LEASE_FOR)
    assert found.next_due_s is not None
    assert 50 < found.next_due_s <= 60
