"""Leaders for tests: a lease in memory that runs out by a clock, and one who leads for sure."""

import asyncio
from dataclasses import dataclass, field

from storyshelf.db.engine import Database
from storyshelf.operations import leader_store as store
from storyshelf.operations.leader import LEASE_FOR, DatabaseLease
from tests.fakes import FakeClock
from tests.queue.builders import run

END_LEASE = "UPDATE leaders SET expires_at = now() - interval '1 second'"


@dataclass
class Row:
    """The row of the lease, and whether the database answers."""

    clock: FakeClock
    holder: str = ""
    term: int = 0
    expires_at: float = 0.0
    failure: Exception | None = None
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    asked_at: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers.set()

    async def ask(self) -> None:
        self.asked_at.append(self.clock.monotonic())
        await self.answers.wait()
        if self.failure is not None:
            raise self.failure

    def extend(self) -> None:
        self.expires_at = self.clock.monotonic() + LEASE_FOR.total_seconds()


@dataclass(frozen=True)
class MemoryLease:
    """A `storyshelf.operations.leader.LeadLease`; it passes the suite of the real one."""

    row: Row
    holder: str

    async def take(self) -> int | None:
        await self.row.ask()
        if self.row.term and self.row.expires_at > self.row.clock.monotonic():
            return None
        self.row.holder, self.row.term = self.holder, self.row.term + 1
        self.row.extend()
        return self.row.term

    async def renew(self, term: int) -> bool:
        await self.row.ask()
        if (self.row.holder, self.row.term) != (self.holder, term):
            return False
        self.row.extend()
        return True

    async def resign(self, term: int) -> None:
        await self.row.ask()
        if (self.row.holder, self.row.term) == (self.holder, term):
            self.row.expires_at = self.row.clock.monotonic()


async def taken(db: Database, holder: str = "ann") -> int:
    """Have somebody lead, whoever did before; the new term."""
    await run(db, END_LEASE)
    term = await DatabaseLease(db, holder).take()
    assert term is not None
    return term


async def leading_now(db: Database) -> store.Leading | None:
    async with db.transaction() as tx:
        return await store.leading_now(tx)
