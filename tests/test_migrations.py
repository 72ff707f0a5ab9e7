"""What the migrations build is what the tables say, whoever runs them and how often."""

import asyncio
from dataclasses import dataclass

import asyncpg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text

from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Scope
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import ALL_SCOPES, SECRET_BYTES, mint
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.base import Base
from storyshelf.db.engine import Database
from storyshelf.db.tables import ProjectRow  # with this module the base knows every table
from storyshelf.operations.tidy_job import tidy_job
from storyshelf.projects import store as projects
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob

FIRST = "0001"
OURS = "n.nspname = 'public' AND c.relname <> 'alembic_version'"
COLUMNS = f"""
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           a.attidentity, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND {OURS}
"""
CONSTRAINTS = f"""
    SELECT c.relname, k.conname, pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {OURS}
"""
INDEXES = f"""
    SELECT c.relname, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {OURS}
"""
STORAGE = f"""
    SELECT c.relname, c.reloptions FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND {OURS}
"""


async def test_alembic_finds_no_difference_to_the_tables(db: Database) -> None:
    async with db.transaction() as tx:
        assert await tx.connection.run_sync(differences) == []


@pytest.mark.parametrize("catalogue", [COLUMNS, CONSTRAINTS, INDEXES, STORAGE])
async def test_the_catalogue_is_the_one_that_the_tables_make(
    db: Database, empty_database_url: str, catalogue: str
) -> None:
    made = Database(empty_database_url)
    async with made.transaction() as tx:
        await tx.connection.run_sync(ProjectRow.metadata.create_all)
    expected = await rows_of(made, catalogue)
    await made.close()
    assert "jobs" in {row[0] for row in expected}
    assert await rows_of(db, catalogue) == expected


async def test_an_empty_database_is_brought_to_the_head(empty_database_url: str) -> None:
    done = await migrate.upgrade(empty_database_url, SystemClock())
    assert (done.before, done.after) == (None, migrate.head())
    assert done.steps == migrate.steps_from(None)


async def test_a_second_run_finds_nothing_to_do(database_url: str) -> None:
    done = await migrate.upgrade(database_url, SystemClock())
    assert (done.before, done.steps) == (migrate.head(), ())


async def test_down_leaves_no_table_and_up_again_works(db: Database, database_url: str) -> None:
    await migrate.downgrade(database_url, SystemClock(), "base")
    assert await rows_of(db, COLUMNS) == []
    await migrate.upgrade(database_url, SystemClock())
    await migrate.require_head(db)


@pytest.mark.parametrize("catalogue", [COLUMNS, CONSTRAINTS, INDEXES, STORAGE])
async def test_one_step_back_leaves_what_the_step_before_had_made(
    db: Database, database_url: str, empty_database_url: str, catalogue: str
) -> None:
    made = Database(empty_database_url)
    async with made.transaction() as tx:
        await tx.connection.run_sync(make_first)
    expected = await rows_of(made, catalogue)
    await made.close()
    await migrate.downgrade(database_url, SystemClock(), FIRST)
    assert await rows_of(db, catalogue) == expected


async def test_a_token_of_few_scopes_is_revoked_where_tokens_have_none(
    db: Database, database_url: str
) -> None:
    async with db.transaction() as tx:
        project = await projects.add(tx, "shop", "Shop", "main")
        for name, scopes in (("all", ALL_SCOPES), ("reader", {Scope.READ})):
            secret = name.encode().ljust(SECRET_BYTES)
            await tokens.add_token(tx, project.id, TokenUse(name, scopes), mint(secret))
    await migrate.downgrade(database_url, SystemClock(), FIRST)
    assert await rows_of(db, "SELECT name, revoked_at IS NULL FROM tokens") == [
        ("all", True),
        ("reader", False),
    ]


async def test_a_job_that_the_version_before_does_not_know_goes_with_the_step_back(
    db: Database, database_url: str
) -> None:
    async with db.transaction() as tx:
        plan = NewJob(kind="plan", lane="plan", payload={})
        await queue.enqueue(tx, [plan, tidy_job()])
    await migrate.downgrade(database_url, SystemClock(), "0002")
    assert await rows_of(db, "SELECT kind FROM jobs") == [("plan",)]


async def test_of_many_at_once_one_migrates_and_the_others_find_it_done(
    empty_database_url: str,
) -> None:
    clock = SystemClock()
    runs = [migrate.upgrade(empty_database_url, clock) for _ in range(4)]
    done = await asyncio.gather(*runs)
    assert sorted(len(one.steps) for one in done) == [0, 0, 0, len(migrate.steps_from(None))]


@dataclass
class GivesWayClock(SystemClock):
    """Holds the lock until somebody has asked for it and turned to waiting."""

    holder: "asyncpg.Connection[asyncpg.Record]"
    waits: int = 0

    async def sleep(self, seconds: float) -> None:
        self.waits += 1
        await self.holder.execute("SELECT pg_advisory_unlock($1)", migrate.LOCK_KEY)


async def test_a_run_waits_for_the_one_that_holds_the_lock(empty_database_url: str) -> None:
    holder = await asyncpg.connect(empty_database_url)
    await holder.execute("SELECT pg_advisory_lock($1)", migrate.LOCK_KEY)
    clock = GivesWayClock(holder)
    done = await migrate.upgrade(empty_database_url, clock)
    assert (clock.waits, done.before) == (1, None)
    await holder.close()


async def test_the_lock_is_given_back(database_url: str) -> None:
    await migrate.upgrade(database_url, SystemClock())
    other = await asyncpg.connect(database_url)
    assert await other.fetchval("SELECT pg_try_advisory_lock($1)", migrate.LOCK_KEY)
    await other.close()


async def test_an_empty_database_is_refused_with_the_command_that_fills_it(
    empty_database_url: str,
) -> None:
    empty = Database(empty_database_url)
    with pytest.raises(migrate.SchemaBehindError, match="storyshelf migrate"):
        await migrate.require_head(empty)
    await empty.close()


async def test_a_schema_from_the_future_is_refused_and_not_touched(
    db: Database, database_url: str
) -> None:
    async with db.transaction() as tx:
        await tx.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrate.SchemaAheadError, match="newer than this version"):
        await migrate.require_head(db)
    with pytest.raises(migrate.SchemaAheadError, match="9999"):
        await migrate.upgrade(database_url, SystemClock())


def test_a_server_older_than_15_is_refused() -> None:
    with pytest.raises(migrate.OldServerError, match="PostgreSQL 14 is too old"):
        migrate.require_version(140_022)
    migrate.require_version(150_000)


def test_migrations_are_one_line_in_the_order_of_their_files() -> None:
    line = [step.revision for step in migrate.scripts().walk_revisions()]
    assert line == [f"{number:04}" for number in range(len(line), 0, -1)]
    files = sorted(path.name for path in migrate.IN_REPOSITORY.glob("versions/*.py"))
    assert [name[:4] for name in files] == sorted(line)


def make_first(connection: Connection) -> None:
    command.upgrade(migrate.config_for(connection), FIRST)


def differences(connection: Connection) -> list[object]:
    options = {"compare_type": True, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, Base.metadata))


async def rows_of(db: Database, query: str) -> list[tuple[object, ...]]:
    async with db.transaction() as tx:
        found = await tx.execute(text(query))
        return sorted((tuple(row) for row in found), key=repr)
