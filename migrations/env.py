"""Alembic's environment: on the connection it is given, else on STORYSHELF_DATABASE_URL.

The second way is for `alembic revision --autogenerate`; users migrate with `storyshelf migrate`.
"""

import asyncio
import os

from alembic import context
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from storyshelf.db import tables
from storyshelf.db.engine import asyncpg_url


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=tables.ProjectRow.metadata,
        compare_type=True,
        compare_server_default=True,
        transaction_per_migration=True,  # what one step did stays done if the next one fails
    )
    with context.begin_transaction():
        context.run_migrations()


async def migrate_by_url(url: str) -> None:
    engine = create_async_engine(asyncpg_url(url), poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(migrate)
            await connection.commit()
    finally:
        await engine.dispose()


given = context.config.attributes.get("connection")
if given is None:
    asyncio.run(migrate_by_url(os.environ["STORYSHELF_DATABASE_URL"]))
else:
    migrate(given)
