"""A database that goes silent, as behind a cut network, is noticed and found again."""

from collections.abc import Sequence

import asyncpg
import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from tests.db.silent_line import a_line_to
from tests.queue.builders import until

HARDLY_ANY_S = 0.2
BACKEND = text("SELECT pg_backend_pid() AS pid")
SUM = text(
    "SELECT CAST(:first AS int) + CAST(:second AS int) AS sum,"
    " jsonb_build_object('of', jsonb_build_array(CAST(:first AS int), CAST(:second AS int)))"
    " AS detail"
)


async def one(db: Database) -> int:
    async with db.transaction() as tx:
        found = await tx.execute(text("SELECT 1"))
    return int(found.scalar_one())


async def test_a_database_that_goes_silent_is_given_up_and_found_again(database_url: str) -> None:
    async with a_line_to(database_url) as (line, url):
        db = Database(url, answer_within_s=HARDLY_ANY_S)
        assert await one(db) == 1
        line.whole.clear()
        with pytest.raises(TimeoutError):
            await one(db)
        line.whole.set()
        assert await one(db) == 1  # by a new connection: the silent one is not given out again
        await db.close()


async def test_what_closes_a_transaction_is_done_once_with_all_it_is_about(
    database_url: str,
) -> None:
    db, done = Database(database_url), list[tuple[int, ...]]()

    async def close(tx: Tx, about: Sequence[int]) -> None:
        assert (await tx.execute(text("SELECT 1"))).scalar_one() == 1
        done.append(tuple(about))

    async with db.transaction() as tx:
        for about in (3, 1, 3):
            tx.close_with(close, about)
        assert done == []
    assert done == [(3, 1)]
    await db.close()


async def test_a_transaction_that_fails_is_not_closed(database_url: str) -> None:
    db, done = Database(database_url), list[int]()

    async def close(_tx: Tx, about: Sequence[int]) -> None:
        done.extend(about)

    async def fail() -> None:
        async with db.transaction() as tx:
            tx.close_with(close, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert done == []
    await db.close()


async def test_whoever_comes_after_the_server_hung_up_does_not_notice(database_url: str) -> None:
    db, other = Database(database_url), Database(database_url)
    async with db.transaction() as tx:
        driver = await tx.driver()
        pid = driver.get_server_pid()
    async with other.transaction() as tx:
        await tx.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
    await until(driver.is_closed)
    assert await one(db) == 1
    await db.close()
    await other.close()


async def test_a_statement_may_take_as_long_as_was_said(database_url: str) -> None:
    db = Database(database_url, statement_timeout_s=0.05)
    async with db.transaction() as tx:
        assert (await tx.execute(text("SHOW statement_timeout"))).scalar_one() == "50ms"
    await db.close()


async def test_a_line_runs_a_statement_whole_and_comes_back_when_it_was_cut(
    database_url: str,
) -> None:
    async with a_line_to(database_url) as (wire, url):
        db = Database(url, answer_within_s=HARDLY_ANY_S)
        line = db.line()
        (row,) = await line.fetch(SUM, {"first": 2, "second": 3})
        assert (row.sum, row.detail) == (5, {"of": [2, 3]})
        wire.whole.clear()
        with pytest.raises(TimeoutError):
            await line.fetch(SUM, {"first": 2, "second": 3})
        wire.whole.set()
        (row,) = await line.fetch(SUM, {"first": 1, "second": 1})
        assert row.sum == 2
        await line.close()
        await db.close()


async def test_a_line_survives_a_statement_that_the_server_refuses(database_url: str) -> None:
    db = Database(database_url)
    line = db.line()
    with pytest.raises(asyncpg.DivisionByZeroError):
        await line.fetch(text("SELECT 1 / CAST(:by AS int)"), {"by": 0})
    (first,) = await line.fetch(BACKEND, {})
    (second,) = await line.fetch(BACKEND, {})
    assert first.pid == second.pid
    await line.close()
    await db.close()
