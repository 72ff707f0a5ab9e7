"""The lease of who leads, in the database and in the fake of it: the same answers."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.operations.leader import DatabaseLease, LeadLease
from storyshelf.operations.leader_store import Leading
from tests.fakes import FakeClock
from tests.operations.leads import END_LEASE, MemoryLease, Row, leading_now, taken
from tests.queue.builders import run


@dataclass(frozen=True)
class Suite:
    """Two who may lead, and time that passes until a lease has run out."""

    ann: LeadLease
    bob: LeadLease
    let_it_run_out: Callable[[], Awaitable[None]]


@pytest.fixture(params=["database", "memory"])
def suite(request: pytest.FixtureRequest) -> Suite:
    if request.param == "memory":
        row = Row(FakeClock())

        async def pass_time() -> None:
            await row.clock.advance(31)

        return Suite(MemoryLease(row, "ann"), MemoryLease(row, "bob"), pass_time)
    db: Database = request.getfixturevalue("db")
    return Suite(DatabaseLease(db, "ann"), DatabaseLease(db, "bob"), lambda: run(db, END_LEASE))


async def test_the_first_who_asks_has_the_first_term(suite: Suite) -> None:
    assert await suite.ann.take() == 1
    assert await suite.bob.take() is None
    assert await suite.ann.take() is None


async def test_a_lease_that_ran_out_is_taken_in_a_new_term(suite: Suite) -> None:
    await suite.ann.take()
    await suite.let_it_run_out()
    assert await suite.bob.take() == 2
    assert await suite.ann.renew(1) is False
    assert await suite.bob.renew(2) is True


async def test_a_lease_that_ran_out_untaken_is_renewed(suite: Suite) -> None:
    await suite.ann.take()
    await suite.let_it_run_out()
    assert await suite.ann.renew(1) is True
    assert await suite.bob.take() is None


async def test_whoever_resigns_is_followed_at_once_by_the_next_term(suite: Suite) -> None:
    await suite.ann.take()
    await suite.ann.resign(1)
    assert await suite.bob.take() == 2


async def test_a_late_resignation_does_not_end_the_term_of_another_one(suite: Suite) -> None:
    await suite.ann.take()
    await suite.let_it_run_out()
    await suite.bob.take()
    await suite.ann.resign(1)
    assert await suite.ann.take() is None


async def test_of_many_at_once_one_leads(db: Database) -> None:
    terms = await asyncio.gather(*(DatabaseLease(db, f"number {n}").take() for n in range(8)))
    assert sorted(terms, key=str) == [1, *[None] * 7]


async def test_what_is_looked_at_beside_the_lease_is_so_by_its_holder_alone(db: Database) -> None:
    looked: list[int] = []

    async def look(tx: Tx) -> None:
        looked.append((await tx.execute(text("SELECT 1"))).scalar_one())

    ann, bob = DatabaseLease(db, "ann", look), DatabaseLease(db, "bob", look)
    term = await ann.take()
    assert term is not None
    await ann.renew(term)
    assert len(looked) == 2
    await bob.take()
    await bob.renew(term)
    assert len(looked) == 2


async def test_who_leads_can_be_asked(db: Database) -> None:
    assert await leading_now(db) is None
    await taken(db, "ann")
    assert await leading_now(db) == Leading("ann", 1)
    await run(db, END_LEASE)
    assert await leading_now(db) is None
