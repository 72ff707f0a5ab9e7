"""What one test leaves in the database is gone for the next."""

import asyncpg
import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.projects import store as projects
from tests.db.handed_on import HandedOn, connected, schema_of


async def test_rows_are_gone_and_ids_begin_anew(handed_on: HandedOn) -> None:
    for _ in range(2):
        await handed_on.make_ready()
        db = Database(handed_on.url)
        async with db.transaction() as tx:
            assert (await projects.add(tx, "shop", "Shop", "main")).id == 1
        await db.close()


async def test_whoever_is_still_connected_is_cut_off(handed_on: HandedOn) -> None:
    await handed_on.make_ready()
    async with connected(handed_on.url) as left_over:
        await left_over.execute("BEGIN; LOCK TABLE projects")
        await handed_on.make_ready()
        with pytest.raises((asyncpg.PostgresConnectionError, asyncpg.InterfaceError)):
            await left_over.execute("SELECT 1")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE extra (id int)",
        "DROP INDEX ix_builds_branch",
        "ALTER TABLE builds DROP CONSTRAINT ck_builds_open_shards",
        "UPDATE alembic_version SET version_num = '9999'",
    ],
)
async def test_another_schema_is_not_handed_on(handed_on: HandedOn, change: str) -> None:
    await handed_on.make_ready()
    db = Database(handed_on.url)
    async with db.transaction() as tx:
        await tx.execute(text(change))
    await db.close()
    assert await schema_of(handed_on.url) != handed_on.schema
    await handed_on.make_ready()
    assert await schema_of(handed_on.url) == handed_on.schema
