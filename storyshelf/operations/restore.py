"""Bring a backup into an empty data folder: unpacked, checked and loaded aside, then moved in.

Aside is a folder of its own in the data folder, on the same file system; a restore that is cut off
leaves that alone, and the next one starts over. The database moves in last: without it, nothing
that was moved before is in use.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from storyshelf.clock import Clock
from storyshelf.db.dump import load
from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.db.migrate import Migrated, upgrade
from storyshelf.errors import ConflictError
from storyshelf.operations.archive import DUMP, KEPT_FILES, BadArchiveError, Header, Sums, unpack

ASIDE = ".restoring"
UP_LOCK = "up.lock"  # of who restores
IGNORED = frozenset({ASIDE, UP_LOCK, "lost+found"})
MOVED = ("blobs", *KEPT_FILES, "pg")


class NotEmptyError(ConflictError):
    """A restore never writes over anything."""

    def __init__(self, folder: Path, found: str) -> None:
        super().__init__(
            f"The data folder is not empty: it has {found}",
            where=str(folder),
            next_step="Set STORYSHELF_DATA_DIR to a new folder, or move this one away.",
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """What was brought in, and what the schema was brought to."""

    header: Header
    sums: Sums
    migrated: Migrated


def require_empty(data_dir: Path) -> None:
    """Raise if there is anything that a restore could mix with or write over."""
    found = sorted({path.name for path in data_dir.iterdir()} - IGNORED)
    if found:
        raise NotEmptyError(data_dir, found[0])


def restore(
    data_dir: Path, source: IO[bytes], clock: Clock, server_at: Callable[[Path], EmbeddedPostgres]
) -> Restored:
    """Restore into the folder, whose lock the caller holds. Blocks.

    Raises NotEmptyError, BadArchiveError, SchemaAheadError, DumpFailedError, with nothing visible.
    """
    require_empty(data_dir)
    aside = data_dir / ASIDE
    server = server_at(aside)
    _remove(aside, server)
    aside.mkdir(mode=0o711)  # the database's user passes through it
    aside.chmod(0o711)
    try:
        header, sums = unpack(source, aside)
        _require_loadable(header, server)
        migrated = _load(aside / DUMP, server, clock)
        os.sync()
        for name in MOVED:
            if (aside / name).exists():
                (aside / name).rename(data_dir / name)
    finally:
        _remove(aside, server)
    return Restored(header, sums, migrated)


def _require_loadable(header: Header, server: EmbeddedPostgres) -> None:
    if header.postgres_major is None:
        raise BadArchiveError("it holds blobs alone, and no database")
    if header.postgres_major > server.binaries.major:
        raise BadArchiveError(
            f"it was made by PostgreSQL {header.postgres_major},"
            f" and the programs found are {server.binaries.version}"
        )


def _load(dumped: Path, server: EmbeddedPostgres, clock: Clock) -> Migrated:
    url = server.start()
    try:
        with dumped.open("rb") as source:
            load(server.binaries, url, source)
        return asyncio.run(upgrade(url, clock))
    finally:
        server.stop()


def _remove(aside: Path, server: EmbeddedPostgres) -> None:
    """Remove what lies aside, with the server that one that was killed may have left."""
    if aside.exists():
        server.stop()
        shutil.rmtree(aside)
