"""The running database for a command that others have to hear of at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from storyshelf.cli.database import opened_database
from storyshelf.db.engine import Database
from storyshelf.queue.wakeup import NOTIFY
from storyshelf.settings import read_settings


@asynccontextmanager
async def hinted_database() -> AsyncIterator[Database]:
    """Open the database, and in the end tell the consumers and servers what was committed."""
    said: set[str] = set()
    async with opened_database(read_settings()) as db:
        db.announce = said.update
        try:
            yield db
        finally:
            if said:
                with suppress(Exception):  # a hint: they find it by themselves, a little later
                    await _tell(db, said)


async def _tell(db: Database, words: set[str]) -> None:
    connection = await db.direct_connection()
    try:
        await connection.execute(NOTIFY, sorted(words))
    finally:
        await connection.close()
