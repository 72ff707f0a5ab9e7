"""What migrations build is what the tables say."""

from storyshelf.db import migrate
from storyshelf.db.engine import Database


async def test_a_migrated_database_is_at_the_head(db: Database) -> None:
    await migrate.require_head(db)


async def test_a_second(db: Database) -> None:
    await migrate.require_head(db)
