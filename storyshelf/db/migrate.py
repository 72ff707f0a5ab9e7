"""Bring a database to the schema this version needs, one process at a time.

The migrations lie at the top of the repository, and inside this package in the wheel.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, asyncpg_url
from storyshelf.db.postgres_binaries import OLDEST_MAJOR
from storyshelf.errors import StoryshelfError

PACKAGED = Path(__file__).with_name("migrations")
IN_REPOSITORY = Path(__file__).parents[2] / "migrations"
LOCK_KEY = 0x5354_4F52_5953_4846  # "STORYSHF": one key for all that migrate this database
LOCK_POLL_S = 0.5


class OldServerError(StoryshelfError):
    """The server is older than what the SQL is written for."""

    http_status = 503

    def __init__(self, number: int) -> None:
        super().__init__(
            f"PostgreSQL {number // 10_000} is too old",
            next_step=f"Use PostgreSQL {OLDEST_MAJOR} or newer.",
        )


class SchemaBehindError(StoryshelfError):
    """The database lacks migrations that this version needs."""

    http_status = 503

    def __init__(self, found: str | None, wanted: str) -> None:
        super().__init__(
            "The database's schema is older than this version of storyshelf",
            where=f"at {found or 'nothing'}, wanted {wanted}",
            next_step="Run `storyshelf migrate`.",
        )


class SchemaAheadError(StoryshelfError):
    """A newer version has migrated the database."""

    http_status = 503

    def __init__(self, found: str) -> None:
        super().__init__(
            "The database's schema is newer than this version of storyshelf",
            where=f"at {found}, which is unknown here",
            next_step="Run the version that migrated it, or a later one.",
        )


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a run found and what it did, in order; no steps: everything was there."""

    before: str | None
    after: str
    steps: tuple[str, ...]


async def upgrade(url: str, clock: Clock) -> Migrated:
    """Bring the database to the newest schema; safe to call from any number of processes."""
    async with _migrating(url, clock) as connection:
        before = await connection.run_sync(_revision)
        steps = steps_from(before)
        if steps:
            await connection.run_sync(_with_config, lambda config: command.upgrade(config, "head"))
    return Migrated(before, head(), steps)


async def downgrade(url: str, clock: Clock, to: str) -> None:
    """Take the database back to an earlier revision; `base` leaves no table of ours."""
    async with _migrating(url, clock) as connection:
        await connection.run_sync(_with_config, lambda config: command.downgrade(config, to))


async def require_head(db: Database) -> None:
    """Raise unless the schema is exactly what this version needs."""
    async with db.transaction() as tx:
        found = await tx.connection.run_sync(_revision)
    if steps_from(found):
        raise SchemaBehindError(found, head())


def head() -> str:
    """Return the revision that this version needs."""
    newest = scripts().get_current_head()
    assert newest is not None, "there is at least one migration"
    return newest


def steps_from(revision: str | None) -> tuple[str, ...]:
    """Return what is missing after that revision, oldest first, as `revision: title`."""
    known = {script.revision for script in scripts().walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaAheadError(revision)
    missing = scripts().iterate_revisions(head(), revision or "base")
    return tuple(f"{one.revision}: {one.doc}" for one in reversed(list(missing)))


def require_version(number: int) -> None:
    """Raise if the server that calls itself `number`, such as 150018, is too old."""
    if number < OLDEST_MAJOR * 10_000:
        raise OldServerError(number)


def config_for(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration; its environment works on that connection."""
    folder = PACKAGED if PACKAGED.is_dir() else IN_REPOSITORY
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@asynccontextmanager
async def _migrating(url: str, clock: Clock) -> AsyncIterator[AsyncConnection]:
    """Open the one connection that may migrate; without the time limits of ordinary work.

    The lock belongs to the session that migrates, so that neither outlives the other. It is
    asked for again and again rather than waited for: a waiting statement would hold a snapshot,
    and `CREATE INDEX CONCURRENTLY` of the holder would wait for that one in turn.
    """
    engine = create_async_engine(asyncpg_url(url), poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await _require_server(connection)
            while not await _call(connection, "pg_try_advisory_lock"):
                await clock.sleep(LOCK_POLL_S)
            yield connection
            await _call(connection, "pg_advisory_unlock")
    finally:
        await engine.dispose()


async def _call(connection: AsyncConnection, function: str) -> bool:
    done = await connection.scalar(text(f"SELECT {function}(:key)"), {"key": LOCK_KEY})
    await connection.commit()
    return bool(done)


async def _require_server(connection: AsyncConnection) -> None:
    number = await connection.scalar(text("SHOW server_version_num"))
    await connection.commit()
    require_version(int(number or 0))


def scripts() -> ScriptDirectory:
    """Return the migrations themselves."""
    return ScriptDirectory.from_config(config_for())


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _with_config(connection: Connection, act: Callable[[Config], None]) -> None:
    if connection.in_transaction():
        connection.commit()  # Alembic opens its own
    act(config_for(connection))
