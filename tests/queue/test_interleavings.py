"""Every statement of the queue beside every other on the same rows: none waits for ever.

Twice: once beside one that has done its work and is not committed yet, and once with both stopped
half-way, each holding what it has locked by then, at a job that a third one holds. Nobody sleeps:
an interleaving goes on when whoever is under way has ended or waits for a lock.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations_with_replacement
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, ConsumerId, JobId, ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import (
    Completed,
    Crashed,
    Ending,
    Failed,
    Lease,
    LeaseLostError,
    NewJob,
    Priority,
    Requeued,
    Retried,
)
from storyshelf.queue.slots import Offer
from storyshelf.queue.store import Unserved, dead
from tests.db.waiting import WAITING
from tests.queue.builders import (
    ANN,
    BOB,
    LEASE_FOR,
    a_job,
    claimed,
    enqueued,
    let_deferred_jobs_be_due,
    let_leases_run_out,
    run,
    table,
)

SHOP, MOST = ProjectId(1), 9
LANE = "capture@x"
EMPTIED = "TRUNCATE jobs, jobs_done, job_attempts, lane_tags, running_caps"
ENDINGS: Sequence[Ending] = [
    Retried(timedelta(0), "again"),
    Completed(),
    Requeued("released"),
    Failed("no"),
    Crashed(timedelta(0), "it died"),
    Completed(),
]


@dataclass
class Scene:
    """Six jobs that run on leases that are over, two of them on their last; others that wait."""

    leases: Sequence[Lease]
    ids: Sequence[JobId]
    settled: list[JobId] = field(default_factory=list)


Act = Callable[[Tx, Scene], Awaitable[object]]


def a_capture(number: int, **changes: Any) -> NewJob:
    values = {"project_id": SHOP, "build_id": BuildId(7), "dedupe_key": f"shard {number}"}
    return a_job(**{**values, **changes})


async def set_up(db: Database) -> Scene:
    await run(db, EMPTIED)
    async with db.transaction() as tx:
        await store.set_running_cap(tx, SHOP, MOST)
    running = [a_capture(n, max_attempts=1 if n > 4 else 3) for n in range(1, 7)]
    await enqueued(db, *running)
    await let_in_all(db)
    leases = await claimed(db, free={LANE: 6})
    assert len(leases) == 6
    await enqueued(db, *[a_capture(n, project_id=None) for n in (7, 8)])
    await enqueued(db, a_capture(9, project_id=None, priority=Priority.MAINTENANCE))
    await enqueued(db, *[a_capture(n) for n in range(10, 15)])
    await enqueued(db, a_capture(15, project_id=None, delay=timedelta(hours=1)))
    await let_leases_run_out(db)
    await let_deferred_jobs_be_due(db)
    ids = [row["id"] for row in await table(db, "jobs")]
    assert len(ids) == 15
    return Scene(sorted(leases, key=lambda lease: lease.job_id), ids)


async def let_in_all(db: Database) -> None:
    async with db.transaction() as tx:
        await store.let_in_parked(tx)


async def claim(tx: Tx, scene: Scene) -> None:
    await store.claim(tx, BOB, {LANE: 8}, LEASE_FOR)


async def refill(tx: Tx, scene: Scene) -> None:
    offer = Offer(8, 8, {Priority.DEFAULT: 1})
    await store.claim(tx, ConsumerId("cleo:3:c"), {LANE: offer}, LEASE_FOR)


async def settle_completed(tx: Tx, scene: Scene) -> None:
    settled = await store.settle(tx, [(lease, Completed()) for lease in scene.leases[::-1]])
    scene.settled.extend(each.job.job_id for each in settled)


async def settle_mixed(tx: Tx, scene: Scene) -> None:
    settled = await store.settle(tx, [*zip(scene.leases, ENDINGS, strict=True)])
    scene.settled.extend(each.job.job_id for each in settled)


async def renew(tx: Tx, scene: Scene) -> None:
    await store.renew(tx, scene.leases[::-1], LEASE_FOR)


async def record(tx: Tx, scene: Scene) -> None:
    with suppress(LeaseLostError):
        await store.renew_for_write(tx, scene.leases[2], LEASE_FOR)


async def cancel(tx: Tx, scene: Scene) -> None:
    await store.cancel_jobs(tx, scene.ids[::-1])


async def cancel_build(tx: Tx, scene: Scene) -> None:
    await store.cancel_build_jobs(tx, BuildId(7), older_than_generation=None)


async def release(tx: Tx, scene: Scene) -> None:
    await store.request_release(tx, scene.ids[::-1])


async def requeue_expired(tx: Tx, scene: Scene) -> None:
    await store.requeue_expired(tx, limit=100)


async def end_overdue(tx: Tx, scene: Scene) -> None:
    await store.end_overdue(tx, scene.ids[::-1])


async def free_leases(tx: Tx, scene: Scene) -> None:
    await dead.free_leases(tx, ANN)


async def let_in(tx: Tx, scene: Scene) -> None:
    await store.let_in_parked(tx)


async def promote(tx: Tx, scene: Scene) -> None:
    await store.promote_old(tx, timedelta(0), limit=5)


async def end_waiting(tx: Tx, scene: Scene) -> None:
    await store.end_waiting(tx, Unserved(LANE), timedelta(0), limit=100)


async def enqueue(tx: Tx, scene: Scene) -> None:
    """Each key once more: those that a live job has are left out, whoever is ending it."""
    await store.enqueue(tx, [a_capture(number) for number in range(15, 0, -1)])


async def enqueue_one(tx: Tx, scene: Scene) -> None:
    await store.enqueue(tx, [a_capture(3)])


ACTS: Sequence[Act] = [
    claim,
    refill,
    settle_completed,
    settle_mixed,
    renew,
    record,
    cancel,
    cancel_build,
    release,
    requeue_expired,
    end_overdue,
    free_leases,
    let_in,
    promote,
    end_waiting,
    enqueue,
    enqueue_one,
]


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


async def do(db: Database, act: Act, scene: Scene) -> None:
    async with db.transaction() as tx:
        await act(tx, scene)


async def until_all_stand(db: Database, under_way: Sequence["asyncio.Task[None]"]) -> None:
    """Return once each has ended or waits for a lock."""
    standing = -1
    while standing < len(under_way):
        async with db.transaction() as tx:
            waiting = (await tx.execute(WAITING)).scalar_one()
        standing = waiting + sum(task.done() for task in under_way)


async def check(db: Database, scene: Scene, pair: str) -> None:
    hot, cold = await table(db, "jobs"), await table(db, "jobs_done")
    where = Counter(row["id"] for row in [*hot, *cold])
    assert set(where.values()) == {1}, pair
    assert where.keys() >= set(scene.ids), pair
    assert max(Counter(scene.settled).values(), default=1) == 1, pair
    assert all(row["charged"] <= row["max_attempts"] for row in [*hot, *cold]), pair
    keys = Counter(row["dedupe_key"] for row in hot)
    assert set(keys.values()) <= {1}, pair
    ended = {
        (row["id"], attempt)
        for row in [*hot, *cold]
        for attempt in range(1, row["attempt"] + (0 if row.get("state") == "running" else 1))
    }
    found = [(row["job_id"], row["attempt"]) for row in await table(db, "job_attempts")]
    assert sorted(found) == sorted(ended), pair
    assert sum(row["capped"] and row["state"] != "parked" for row in hot) <= MOST, pair


@pytest.mark.timeout(60)
@pytest.mark.parametrize("first", ACTS, ids=lambda act: act.__name__)
async def test_beside_one_that_is_not_committed_yet(
    db: Database, other: Database, first: Act
) -> None:
    for second in ACTS:
        scene = await set_up(db)
        async with asyncio.TaskGroup() as group, db.transaction() as tx:
            await first(tx, scene)
            behind = group.create_task(do(other, second, scene))
            await until_all_stand(other, [behind])
        await check(db, scene, f"{first.__name__}, {second.__name__}")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("held", [2, 11])
async def test_both_stopped_half_way_at_a_job_that_a_third_one_holds(
    db: Database, other: Database, held: int
) -> None:
    hold = text("SELECT FROM jobs WHERE id = :id FOR UPDATE")
    for first, second in combinations_with_replacement(ACTS, 2):
        scene = await set_up(db)
        async with asyncio.TaskGroup() as group, db.transaction() as tx:
            await tx.execute(hold, {"id": scene.ids[held]})
            one = group.create_task(do(other, first, scene))
            await until_all_stand(other, [one])
            two = group.create_task(do(other, second, scene))
            await until_all_stand(other, [one, two])
        await check(db, scene, f"{first.__name__}, {second.__name__}")
