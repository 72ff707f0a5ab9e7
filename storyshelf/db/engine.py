"""The connection pool and the one way to open a transaction."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from sqlalchemy.engine import CursorResult
from sqlalchemy.engine.url import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.sql import Executable

from storyshelf.errors import BadInputError

STATEMENT_TIMEOUT_S = 25  # under half a lease: a statement that hangs must not cost the job
IDLE_IN_TRANSACTION_S = 30  # a held transaction stops vacuum, and with it the queue
CONNECT_TIMEOUT_S = 10
ANSWER_WITHIN_S = 30  # past the server's own limit: whoever says nothing by then is not there


@dataclass(slots=True)
class Tx:
    """An open transaction. Store functions take it first and never commit."""

    connection: AsyncConnection
    announced: set[str] = field(default_factory=set)

    async def execute(
        self, statement: Executable, values: Any = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run one statement in this transaction."""
        return await self.connection.execute(statement, values)

    async def driver(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Return the asyncpg connection below, for statements that are hot enough to be raw."""
        raw = await self.connection.get_raw_connection()
        found = raw.driver_connection
        assert found is not None, "an open transaction has a connection"
        return found  # type: ignore[no-any-return]  # SQLAlchemy types the driver as Any

    def announce(self, word: str) -> None:
        """Have the database's `announce` told of this once the commit has succeeded."""
        self.announced.add(word)


Announce = Callable[[frozenset[str]], None]


def keep_quiet(_words: frozenset[str]) -> None:
    """Announce nothing; polling finds what was committed."""


class Database:
    """A pool on one PostgreSQL; the url may be any `postgresql://` form."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 5,
        application: str = "storyshelf",
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self.url = asyncpg_url(url)
        self._application = application
        self.announce: Announce = keep_quiet  # set by wiring; called after the commit, outside it
        self.engine: AsyncEngine = create_async_engine(
            self.url,
            hide_parameters=True,  # a log is read by more people than the database
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,  # after a restart of the database the first caller must not fail
            connect_args={
                "timeout": CONNECT_TIMEOUT_S,
                "command_timeout": answer_within_s,  # a half-open socket would hang for minutes
                "server_settings": {
                    "application_name": application,
                    "statement_timeout": f"{STATEMENT_TIMEOUT_S}s",
                    "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_S}s",
                    "timezone": "UTC",
                },
            },
        )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """Open a transaction that commits at the end of the block, or not at all."""
        async with self.engine.connect() as connection:
            tx = Tx(connection)
            async with connection.begin():
                yield tx
        if tx.announced:
            self.announce(frozenset(tx.announced))

    async def direct_connection(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Open a connection of its own, outside the pool, for LISTEN and NOTIFY.

        It commits without waiting for the flush, so it may carry hints and nothing else. It has to
        be closed by the caller, and must not go through a pooler in transaction mode.
        """
        _, options = self.engine.dialect.create_connect_args(self.url)
        application = f"{self._application} hints"
        return await asyncpg.connect(
            **options,
            timeout=CONNECT_TIMEOUT_S,
            server_settings={"application_name": application, "synchronous_commit": "off"},
        )

    async def close(self) -> None:
        """Give every connection back to the server."""
        await self.engine.dispose()


def asyncpg_url(url: str) -> URL:
    """Return the url for SQLAlchemy's asyncpg dialect, whatever PostgreSQL form was given."""
    parsed = make_url(url)
    if parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise BadInputError(
            "The database url is not a PostgreSQL one",
            where=f"{parsed.drivername}://…",
            next_step="Give postgresql://user:password@host:port/name.",
        )
    return parsed.set(drivername="postgresql+asyncpg")
