"""A database with 200 live consumers, who claim, settle and put back as much again."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import median

from sqlalchemy import text

from bench.queue_ours import a_job
from bench.queue_server import Server
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId
from storyshelf.queue import store
from storyshelf.queue.job import Completed, Lease
from storyshelf.queue.store import Consumer

CONSUMERS, SLOTS, AT_ONCE = 200, 2, 4  # of the consumers; places of each; who claim side by side
LEASE_FOR = timedelta(minutes=10)
SETTLED_AT_ONCE = 100
ALL_LIVE = text("UPDATE consumers SET beat_at = now()")  # 200 heartbeats at once


@dataclass(frozen=True, slots=True)
class House:
    """One database with its consumers."""

    name: str
    db: Database


async def register(db: Database) -> None:
    """Say that all of them are there."""
    async with db.transaction() as tx:
        for number in range(CONSUMERS):
            await store.register_consumer(
                tx,
                Consumer(
                    id=_name(number),
                    host=f"host-{number}",
                    pid=number,
                    version="bench",
                    lanes=("noop",),
                    kinds=("noop",),
                    environment_id=None,
                    slots={"noop": SLOTS},
                ),
            )


def _name(number: int) -> ConsumerId:
    return ConsumerId(f"host-{number}:{number}:bench")


async def claimed(server: Server, house: House) -> dict[str, float]:
    """Have every consumer fill its slots once; the server's time for a claim, and the client's."""
    await asyncio.to_thread(server.forget_statements)
    took_ms = await sweep(house.db)
    times = await asyncio.to_thread(server.claims_of, house.name, CONSUMERS)
    return {
        "claim_ms": times.total_ms,
        "claim_plan_ms": times.plan_ms,
        "claim_seen_by_client_ms": median(took_ms),
    }


async def sweep(db: Database) -> Sequence[float]:
    """Claim for each consumer, settle it all and enqueue as much again; each claim's time."""
    claims = Claims(db, iter(range(CONSUMERS)))
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(claims.make())
    found = len(claims.leases)
    assert found == CONSUMERS * SLOTS, f"{found} leases for {CONSUMERS} consumers"
    await _put_back(db, claims.leases)
    return claims.took_ms


@dataclass(slots=True)
class Claims:
    """One claim for each of the consumers whose numbers come."""

    db: Database
    numbers: Iterator[int]
    took_ms: list[float] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)

    async def make(self) -> None:
        """Claim for one consumer after the other, on a line as each of them has one."""
        line = self.db.line()
        for number in self.numbers:
            begun = time.monotonic()
            found = await store.claim(line, _name(number), {"noop": SLOTS}, LEASE_FOR)
            self.took_ms.append(1000 * (time.monotonic() - begun))
            self.leases.extend(found.leases)
        await line.close()


async def _put_back(db: Database, leases: Sequence[Lease]) -> None:
    for at in range(0, len(leases), SETTLED_AT_ONCE):
        async with db.transaction() as tx:
            some = leases[at : at + SETTLED_AT_ONCE]
            await store.settle(tx, [(lease, Completed()) for lease in some])
    async with db.transaction() as tx:
        await store.enqueue(tx, [a_job()] * len(leases))


async def all_work(db: Database) -> None:
    """Leave every consumer with its slots taken, as it is when there is much to do."""
    for number in range(CONSUMERS):
        async with db.transaction() as tx:
            await store.claim(tx, _name(number), {"noop": SLOTS}, LEASE_FOR)


async def beat(db: Database) -> None:
    """Say that all of them live."""
    async with db.transaction() as tx:
        await tx.execute(ALL_LIVE)
