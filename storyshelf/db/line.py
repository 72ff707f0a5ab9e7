"""A connection of its own for statements that are hot: each alone, in a transaction of its own.

A pooled transaction costs four trips to the server: is it still there, begin, the statement,
commit. Here it is one, and the server has parsed and planned the statement before. What such a line
runs must be whole in itself.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol

import asyncpg
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.asyncpg import dialect

CLOSE_WITHIN_S = 2.0


class Fetches(Protocol):
    """What a statement needs of a transaction, or of a line; rows have their columns as names."""

    async def fetch(self, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
        """Run the statement and return its rows."""
        ...

    def announce(self, word: str) -> None:
        """Have the others told of this once it is committed."""
        ...


class NamedRecord(asyncpg.Record):
    """A row whose columns are read as SQLAlchemy's are."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


Connect = Callable[[], Awaitable["asyncpg.Connection[NamedRecord]"]]


class Line:
    """One connection, opened when it is first needed and again after it broke; one user at a time.

    Whoever is cancelled, or gets no answer, cannot know whether the statement was done.
    """

    def __init__(self, connect: Connect, announce: Callable[[frozenset[str]], None]) -> None:
        self._connect = connect
        self._announce = announce
        self._connection: asyncpg.Connection[NamedRecord] | None = None
        self._busy = asyncio.Lock()

    async def fetch(self, statement: TextClause, values: Mapping[str, Any]) -> Sequence[Any]:
        """Run the statement in a transaction of its own, and return its rows."""
        sql, names = _compiled(statement)
        async with self._busy:
            connection = await self._opened()
            try:
                return await connection.fetch(sql, *(values[name] for name in names))
            except asyncpg.PostgresError:
                raise  # the server answered: the line is as good as before
            except BaseException:
                self._drop()
                raise

    def announce(self, word: str) -> None:
        """Have the others told: what was run here is committed already."""
        self._announce(frozenset({word}))

    async def close(self) -> None:
        """Hang up; the next statement would open it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                await connection.close(timeout=CLOSE_WITHIN_S)

    async def _opened(self) -> "asyncpg.Connection[NamedRecord]":
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):  # it may be gone already
                connection.terminate()


async def know_json(connection: "asyncpg.Connection[Any]") -> None:
    """Have the connection read and write jsonb as Python values, as SQLAlchemy's do."""
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads, format="text"
    )


@lru_cache(maxsize=64)
def _compiled(statement: TextClause) -> tuple[str, tuple[str, ...]]:
    """Return the statement with numbered parameters, and their names in that order."""
    compiled = statement.compile(dialect=dialect())  # type: ignore[no-untyped-call]  # SQLAlchemy's
    return str(compiled), tuple(compiled.positiontup or ())
