"""Save everything of the embedded form to one stream, while it all goes on working.

The database is saved as one snapshot sees it. Each blob that the snapshot has a row of was synced
before that row was, and none is swept while the lock is held: so whatever the saved database names
is found when the blobs are copied after it. What was stored meanwhile is not in it, and not missed.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO

import asyncpg

from storyshelf.client.version import own_version
from storyshelf.db.dump import dump
from storyshelf.db.engine import Database
from storyshelf.db.migrate import head
from storyshelf.db.postgres_binaries import PostgresBinaries
from storyshelf.errors import ConflictError, StoryshelfError
from storyshelf.ids import BlobKey
from storyshelf.operations.archive import (
    DUMP,
    FILES,
    KEPT_FILES,
    ArchiveWriter,
    Header,
    Sums,
    writing,
)
from storyshelf.operations.sweep import alone
from storyshelf.storage import store
from storyshelf.storage.local import LEAVING, blob_path

KEYS_A_STEP = 5_000
KEY_BYTES = 32
CHUNK_BYTES = 1024 * 1024


class SweptUnderError(ConflictError):
    """Another process tidies up, so that blobs could vanish under the backup."""

    def __init__(self) -> None:
        super().__init__(
            "Another process is tidying up, or makes a backup",
            next_step="Wait until it is done, then try again.",
        )


class LockLostError(StoryshelfError):
    """The connection that kept blobs from being swept broke."""

    http_status = 503

    def __init__(self) -> None:
        super().__init__(
            "The database went away while the backup was made, so that it may lack files",
            next_step="Make the backup again.",
        )


@dataclass(frozen=True, slots=True)
class Source:
    """What is saved. Without programs to dump it, the database itself is left out."""

    db: Database
    url: str
    data_dir: Path
    blob_dir: Path
    binaries: PostgresBinaries | None


@dataclass(frozen=True, slots=True)
class Saved:
    """What a backup holds, and the blobs whose content is gone or damaged."""

    sums: Sums
    lost: Sequence[BlobKey]


async def back_up(
    source: Source, out: IO[bytes], now: datetime, tell: Callable[[int], None]
) -> Saved:
    """Write a backup to the stream; `tell` hears how many blobs are in it so far.

    Raises SweptUnderError, before anything is written, DumpFailedError, and LockLostError.
    """
    async with alone(source.db) as lock:
        if lock is None:
            raise SweptUnderError
        major = None if source.binaries is None else source.binaries.major
        header = Header(head(), major, own_version(), now.isoformat(timespec="seconds"))
        with tempfile.TemporaryFile() as dumped, tempfile.TemporaryFile() as keys:
            await _snapshot(source, dumped, keys)
            saved = await asyncio.to_thread(_write, source, header, (dumped, keys), out, tell)
        try:
            await lock.fetchval("SELECT 1")
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise LockLostError from error
        return saved


async def _snapshot(source: Source, dumped: IO[bytes], keys: IO[bytes]) -> None:
    """Save the database and list its blobs as of one moment; the snapshot ends with this."""
    connection = await source.db.direct_connection()
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            # Exported before anything is read, so that both see the same.
            name = await connection.fetchval("SELECT pg_export_snapshot()")
            if source.binaries is not None:
                await asyncio.to_thread(dump, source.binaries, source.url, name, dumped)
            cursor = connection.cursor(store.EVERY_KEY, prefetch=KEYS_A_STEP)
            async for row in cursor:
                keys.write(bytes.fromhex(row["key"]))
    finally:
        await connection.close()


def _write(
    source: Source,
    header: Header,
    spooled: tuple[IO[bytes], IO[bytes]],
    out: IO[bytes],
    tell: Callable[[int], None],
) -> Saved:
    dumped, keys = spooled
    lost = []
    with writing(out, header) as archive:
        if source.binaries is not None:
            _add_whole(archive, DUMP, dumped)
            for name in KEPT_FILES:
                with suppress(FileNotFoundError), (source.data_dir / name).open("rb") as file:
                    _add_whole(archive, f"{FILES}{name}", file)
        for number, key in enumerate(_keys(keys), start=1):
            if not _add_blob(archive, source.blob_dir, key):
                lost.append(key)
            tell(number - len(lost))
        return Saved(archive.finish(), lost)


def _add_whole(archive: ArchiveWriter, name: str, file: IO[bytes]) -> None:
    size_bytes = file.seek(0, os.SEEK_END)
    file.seek(0)
    archive.add_file(name, file, size_bytes)


def _add_blob(archive: ArchiveWriter, folder: Path, key: BlobKey) -> bool:
    """Add a blob, if it is here and whole: one that is not must not spoil the backup."""
    for path in (blob_path(folder, key), folder / LEAVING / key):
        with suppress(FileNotFoundError), path.open("rb") as file:
            if _sum(file) != key:
                return False
            size_bytes = file.tell()
            file.seek(0)
            archive.add_blob(key, file, size_bytes)
            return True
    return False


def _sum(file: IO[bytes]) -> str:
    digest = sha256()
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def _keys(spooled: IO[bytes]) -> Iterator[BlobKey]:
    spooled.seek(0)
    while raw := spooled.read(KEY_BYTES):
        yield BlobKey(raw.hex())
