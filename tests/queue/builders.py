"""Jobs and leases whose every part may be left out, and rows moved in time."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.job import Lease, NewJob

LEASE_FOR = timedelta(seconds=60)
ANN = ConsumerId("ann:1:a")
BOB = ConsumerId("bob:2:b")


def a_job(**changes: Any) -> NewJob:
    return replace(NewJob(kind="capture", lane="capture@x", payload={"shard": 1}), **changes)


async def enqueued(db: Database, *jobs: NewJob) -> tuple[JobId, ...]:
    async with db.transaction() as tx:
        ids = await store.enqueue(tx, jobs)
    return tuple(job_id for job_id in ids if job_id is not None)


async def claimed(
    db: Database, consumer: ConsumerId = ANN, free: Mapping[str, int] | None = None
) -> tuple[Lease, ...]:
    async with db.transaction() as tx:
        found = await store.claim(tx, consumer, free or {"capture@x": 10}, LEASE_FOR)
    return found.leases


async def a_lease(db: Database, **changes: Any) -> Lease:
    """The lease on a job that is enqueued and claimed here, alone on its lane."""
    await enqueued(db, a_job(**changes))
    (lease,) = await claimed(db, free={changes.get("lane", "capture@x"): 1})
    return lease


async def let_leases_run_out(db: Database) -> None:
    await run(
        db,
        "UPDATE jobs SET lease_expires_at = now() - interval '1 second' WHERE state = 'running'",
    )


async def let_deferred_jobs_be_due(db: Database) -> None:
    await run(db, "UPDATE jobs SET run_at = now() WHERE state = 'deferred'")


async def run(db: Database, statement: str) -> None:
    async with db.transaction() as tx:
        await tx.execute(text(statement))


async def rows(tx: Tx, table: str) -> list[Mapping[str, Any]]:
    """The table's rows, ordered by its first column."""
    found = await tx.execute(text(f"SELECT * FROM {table} ORDER BY 1"))
    return [dict(row) for row in found.mappings()]


async def table(db: Database, name: str) -> list[Mapping[str, Any]]:
    async with db.transaction() as tx:
        return await rows(tx, name)


async def until(fact: Callable[[], bool]) -> None:
    """Return once the fact holds, however the tasks of the test are scheduled."""
    while not fact():
        await SystemClock().sleep(0.001)
