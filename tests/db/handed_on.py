"""One database that test after test is handed, emptied in between.

A fresh copy of the template costs ten times as much as emptying what the test before has left. A
database whose schema a test has changed is given up, and copied anew.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

NAME = "test_storyshelf"
EXISTS = "SELECT FROM pg_database WHERE datname = $1"
LEAVE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
SCHEMA = """
SELECT string_agg(line, E'\\n' ORDER BY line COLLATE "C") FROM (
    SELECT concat_ws(' ', c.relkind, c.relname, a.attname, a.atttypid, a.attnotnull) AS line
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
    UNION ALL
    SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT version_num FROM alembic_version
) AS lines
"""
EMPTY = """
SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """The database, on its server, and the template that it is a copy of."""

    admin_url: str
    url: str
    owner: str
    template: str
    schema: str  # of the template, as `schema_of` reads it

    async def make_ready(self) -> None:
        """Leave the database migrated, without a row, and with nobody connected to it."""
        async with connected(self.admin_url) as admin:
            await admin.fetch(LEAVE, NAME)
            if await admin.fetch(EXISTS, NAME) and await self._is_emptied():
                return
            await admin.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
            await admin.execute(
                f"CREATE DATABASE {NAME} OWNER {self.owner} TEMPLATE {self.template}"
            )

    async def _is_emptied(self) -> bool:
        async with connected(self.url) as own:
            if await own.fetchval(SCHEMA) != self.schema:
                return False
            await own.execute(await own.fetchval(EMPTY))
            return True


async def schema_of(url: str) -> str:
    """Return the revision, tables, columns, indexes and constraints, as one text to compare."""
    async with connected(url) as connection:
        return str(await connection.fetchval(SCHEMA))


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
