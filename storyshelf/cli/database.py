"""Which database a command works on: the one that is named, else the embedded server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.engine import Database, Tx
from storyshelf.db.migrate import require_head
from storyshelf.db.running import running_url
from storyshelf.errors import StoryshelfError
from storyshelf.settings import Settings, read_settings

_T = TypeVar("_T")


class UnusableDatabaseError(StoryshelfError):
    """The database does not answer, or does not let us in."""

    http_status = 503

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The database cannot be used: {reason}",
            next_step="Check STORYSHELF_DATABASE_URL, and that the server runs and lets this "
            "machine in.",
        )


def embedded_server(settings: Settings) -> EmbeddedPostgres:
    """Return the embedded server of the settings' data folder, in whatever state it is."""
    return EmbeddedPostgres(settings.data_dir)


async def ready_url(settings: Settings) -> str:
    """Return the url of a database that answers; the embedded one is started if need be."""
    named = settings.named_url
    if named is not None:
        return named
    return await asyncio.to_thread(lambda: embedded_server(settings).start())


def url_in_use(settings: Settings) -> str:
    """Return the url of a database that is there already; raises NoDatabaseError. Blocks."""
    return running_url(settings.named_url, settings.data_dir)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what a driver raises when it cannot connect into an error for people."""
    try:
        yield
    except DBAPIError as error:
        raise UnusableDatabaseError(str(error.orig).rpartition(">: ")[2]) from error
    except (OSError, TimeoutError) as error:
        raise UnusableDatabaseError(str(error) or "no answer in time") from error


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the running database for one command; its schema is this version's."""
    url = await asyncio.to_thread(url_in_use, settings)
    db = Database(url, pool_size=1, application="storyshelf cli")
    try:
        with plain_errors():
            await require_head(db)
        yield db
    finally:
        await db.close()


def in_one_transaction(work: Callable[[Tx], Awaitable[_T]]) -> _T:
    """Do one command's work on the database that runs, all of it or nothing."""

    async def run() -> _T:
        async with opened_database(read_settings()) as db, db.transaction() as tx:
            return await work(tx)

    return asyncio.run(run())
