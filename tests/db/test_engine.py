"""A database that goes silent, as behind a cut network, is noticed and found again."""

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database
from tests.db.silent_line import a_line_to

HARDLY_ANY_S = 0.2


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
