"""The connection pool and the one way to open a transaction."""

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from sqlalchemy import TextClause
from sqlalchemy.engine import CursorResult
from sqlalchemy.engine.url import URL, make_url
from sqlalchemy.event import listens_for
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.sql import Executable

from storyshelf.db.line import Line, NamedRecord, know_json
from storyshelf.errors import BadInputError

STATEMENT_TIMEOUT_S = 25  # under half a lease: a statement that hangs must not cost the job
IDLE_IN_TRANSACTION_S = 30  # a held transaction stops vacuum, and with it the queue
CONNECT_TIMEOUT_S = 10
ANSWER_WITHIN_S = 30  # past the server's own limit: whoever says nothing by then is not there


# Hot statements are planned once, and then planning costs more than running them. So that a plan
# made on a table that was empty serves one that is not, it may not be a scan of the whole table.
HOT_SETTINGS = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}


@dataclass(slots=True)
class Tx:
    """An open transaction. Store functions take it first and never commit."""

    connection: AsyncConnection
    announced: set[str] = field(default_factory=set)
    closing: "dict[Closing, dict[Any, None]]" = field(default_factory=dict)

    async def execute(
        self, statement: Executable, values: Any = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """Run one statement in this transaction."""
        return await self.connection.execute(statement, values)

    async def fetch(self, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
        """Run one statement in this transaction, and return its rows; see `line.Fetches`."""
        return (await self.connection.execute(statement, values)).all()

    async def driver(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Return the asyncpg connection below, for statements that are hot enough to be raw."""
        raw = await self.connection.get_raw_connection()
        found = raw.driver_connection
        assert found is not None, "an open transaction has a connection"
        return found  # type: ignore[no-any-return]  # SQLAlchemy types the driver as Any

    def announce(self, word: str) -> None:
        """Have the database's `announce` told of this once the commit has succeeded."""
        self.announced.add(word)

    def close_with(self, work: "Closing", about: Hashable) -> None:
        """Have `work` done at the end of this transaction, before its commit.

        Once, however often it is asked for, and with all that it was asked about: for what locks
        rows that come after everything else in the lock order, whoever moves what in between.
        """
        self.closing.setdefault(work, {})[about] = None

    async def close(self) -> None:
        """Do what was left for the end."""
        while self.closing:
            work = next(iter(self.closing))
            await work(self, tuple(self.closing.pop(work)))


Closing = Callable[[Tx, Sequence[Any]], Awaitable[None]]
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
        statement_timeout_s: float = STATEMENT_TIMEOUT_S,
    ) -> None:
        self.url = asyncpg_url(url)
        self._application = application
        self._connecting: dict[str, Any] = {
            "timeout": CONNECT_TIMEOUT_S,
            "command_timeout": answer_within_s,  # a half-open socket would hang for minutes
            "server_settings": {
                "application_name": application,
                "statement_timeout": f"{round(1000 * statement_timeout_s)}ms",
                "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_S}s",
                "timezone": "UTC",
                "jit": "off",  # to compile a plan costs more than any statement of ours takes
            },
        }
        self.announce: Announce = keep_quiet  # set by wiring; called after the commit, outside it
        self.engine: AsyncEngine = create_async_engine(
            self.url,
            hide_parameters=True,  # a log is read by more people than the database
            pool_size=pool_size,
            max_overflow=pool_size,
            connect_args=self._connecting,
        )
        listens_for(self.engine.sync_engine, "checkout")(_refuse_if_closed)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """Open a transaction that commits at the end of the block, or not at all."""
        async with self.engine.connect() as connection:
            tx = Tx(connection)
            async with connection.begin():
                yield tx
                await tx.close()
        if tx.announced:
            self.announce(frozenset(tx.announced))

    def line(self) -> Line:
        """Return a line of its own for hot statements; whoever takes it closes it."""
        return Line(self._connection_for_line, self._tell)

    def _tell(self, words: frozenset[str]) -> None:
        self.announce(words)  # whoever it is by then

    async def _connection_for_line(self) -> "asyncpg.Connection[NamedRecord]":
        _, options = self.engine.dialect.create_connect_args(self.url)
        settings = {**self._connecting["server_settings"], **HOT_SETTINGS}
        connection: asyncpg.Connection[NamedRecord] = await asyncpg.connect(
            **options,
            **{**self._connecting, "server_settings": settings},
            record_class=NamedRecord,
        )
        await know_json(connection)
        return connection

    async def direct_connection(self) -> "asyncpg.Connection[asyncpg.Record]":
        """Open a connection of its own, outside the pool, for LISTEN and NOTIFY.

        It commits without waiting for the flush, so it may carry hints, beats, and nothing that has
        to outlive a crash. It has to be closed by the caller, and must not go through a pooler in
        transaction mode.
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


def _refuse_if_closed(connection: Any, _record: Any, _proxy: Any) -> None:
    """Have the pool open another one, so that after a restart of the database nobody fails.

    The driver knows of a connection's end without asking. A ping would cost three trips each time,
    and finds a half-open one no sooner than the statement itself.
    """
    if connection.driver_connection.is_closed():
        raise DisconnectionError


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
