"""The PostgreSQL that all queues are measured on, and what it counts of them.

Production's settings: every durable commit waits for the disk. Added is only the extension that
tells how long a statement took; it weighs on all alike.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy.engine.url import make_url

from bench.queue_sides import OURS, PROCRASTINATE
from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.embedded import OWNER, PRODUCTION, EmbeddedPostgres
from tests.db.server import a_data_folder, from_sync, on_server

STATEMENTS = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track_planning": "on",
}
QUIET_WITHIN_S = 15.0  # a backend reports what it did when it ends
LOOK_EVERY_S = 0.02
COUNTERS = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = $1) AS connections,
    xact_commit + xact_rollback AS transactions,
    pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal_bytes
FROM pg_stat_database WHERE datname = $1
"""
CLAIMS = """
SELECT sum(s.total_exec_time) AS run_ms, sum(s.total_plan_time) AS plan_ms
FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid
WHERE d.datname = $1 AND s.query LIKE $2
"""
CLAIMS_LIKE = {PROCRASTINATE: "%procrastinate_fetch_job%"}  # a function; others say what they lock
SAID_IN_A_CLAIM = "%SKIP LOCKED%"
FLUSHES = 300


@dataclass(frozen=True, slots=True)
class Counters:
    """What a database has counted so far; the WAL is the whole server's."""

    transactions: int
    wal_bytes: int

    def since(self, before: "Counters") -> "Counters":
        """Return what was added."""
        return Counters(self.transactions - before.transactions, self.wal_bytes - before.wal_bytes)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, asked as its superuser."""

    postgres: EmbeddedPostgres
    folder: Path

    def database(self, name: str) -> str:
        """Make a database and return its url; one of ours is migrated."""
        on_server(self.postgres.admin_url, f"CREATE DATABASE {name} OWNER {OWNER}")
        if name.startswith(OURS):
            from_sync(migrate.upgrade(self.url_of(name), SystemClock()))
        return self.url_of(name)

    def url_of(self, name: str) -> str:
        """Return the url of a database for the product's own role."""
        return make_url(self.postgres.url).set(database=name).render_as_string(hide_password=False)

    def row(self, query: str, *values: Any) -> Any:
        """Return the one row that the query finds in the superuser's own database."""
        return self._row(self.postgres.admin_url, query, *values)

    def row_of(self, database: str, query: str) -> dict[str, Any]:
        """Return the one row that the query finds in that database."""
        url = make_url(self.postgres.admin_url).set(database=database)
        return dict(self._row(url.render_as_string(hide_password=False), query))

    def _row(self, url: str, query: str, *values: Any) -> Any:
        async def read() -> Any:
            connection = await asyncpg.connect(url)
            try:
                return await connection.fetchrow(query, *values)
            finally:
                await connection.close()

        return from_sync(read())

    def run(self, *statements: str) -> None:
        """Run statements one by one."""
        on_server(self.postgres.admin_url, *statements)

    def counters(self, database: str) -> Counters:
        """Return the counters once nobody is connected any more: a backend reports at its end."""
        deadline = time.monotonic() + QUIET_WITHIN_S
        while True:
            row = self.row(COUNTERS, database)
            if not row["connections"] or time.monotonic() > deadline:
                return Counters(row["transactions"], int(row["wal_bytes"]))
            time.sleep(LOOK_EVERY_S)

    def counted_now(self, database: str) -> int:
        """Return the transactions that were reported so far, whoever is connected."""
        return int(self.row(COUNTERS, database)["transactions"])

    def slow_flushes(self, delay_ms: float) -> None:
        """Have every flush of a commit wait that long first, as a disk across a network does.

        Who comes during the wait shares the flush, so this is a little kinder than such a disk.
        """
        self.run(
            "ALTER SYSTEM SET commit_siblings = 0",
            f"ALTER SYSTEM SET commit_delay = {round(1000 * delay_ms)}",
            "SELECT pg_reload_conf()",
        )

    def forget_statements(self) -> None:
        """Begin to count the time of statements anew."""
        self.run("SELECT pg_stat_statements_reset()")

    def claims_of(self, database: str, claims: int) -> "ClaimTimes":
        """Return the server's time for a claim, of so many that were made since it began to count.

        Whatever a claim consists of, all statements that lock what nobody else has locked are it.
        """
        row = self.row(CLAIMS, database, CLAIMS_LIKE.get(database, SAID_IN_A_CLAIM))
        return ClaimTimes(plan_ms=row["plan_ms"] / claims, run_ms=row["run_ms"] / claims)


@dataclass(frozen=True, slots=True)
class ClaimTimes:
    """The server's milliseconds for one claim: to plan it, and to run it."""

    plan_ms: float
    run_ms: float

    @property
    def total_ms(self) -> float:
        """Return what a claim takes in all."""
        return self.plan_ms + self.run_ms


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server with production's settings in a folder of its own."""
    with a_data_folder() as folder:
        postgres = EmbeddedPostgres(folder, settings={**PRODUCTION, **STATEMENTS})
        postgres.start()
        try:
            server = Server(postgres, folder)
            server.run("CREATE EXTENSION pg_stat_statements")
            yield server
        finally:
            postgres.stop()


def flushes_per_s(url: str) -> float:
    """Return how many durable one-row commits a second one client gets out of this disk."""

    async def measure() -> float:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("CREATE TABLE flushed (at int)")
            await connection.execute("INSERT INTO flushed VALUES (0)")
            begun = time.monotonic()
            for at in range(FLUSHES):
                await connection.execute("UPDATE flushed SET at = $1", at)
            took_s = time.monotonic() - begun
            await connection.execute("DROP TABLE flushed")
        finally:
            await connection.close()
        return FLUSHES / took_s

    return from_sync(measure())
