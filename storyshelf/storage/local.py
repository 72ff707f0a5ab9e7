"""Blobs in a folder: two levels of hash prefix, one file each, synced before it has its name."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO
from uuid import uuid4

import structlog

from storyshelf.ids import BlobKey
from storyshelf.storage.blobs import FullStorageError, MissingBlobError, WrongContentError, key_of

INCOMING = "incoming"  # on the same file system, so that a finished file can be linked into place
LEAVING = "leaving"  # where a sweeper looks once more at what it is about to remove
COPIED_BYTES = 1024 * 1024

log = structlog.get_logger()


def new_file(path: Path) -> IO[bytes]:
    """Open a file that must not exist yet."""
    return path.open("xb")


def blob_path(folder: Path, key: BlobKey) -> Path:
    """Return where the blob lies."""
    assert len(key) == 64 and key.isalnum(), "a key is a sha256 in hex"  # noqa: PLR2004, PT018
    return folder / key[:2] / key[2:4] / key


class LocalBlobs:
    """The blob storage of a single machine; safe for any number of processes at once.

    `create` opens the files that content arrives in; another one can be a disk that fails.
    """

    def __init__(self, folder: Path, create: Callable[[Path], IO[bytes]] = new_file) -> None:
        self._folder = folder
        self._create = create
        self._synced: set[Path] = set()  # folders whose own entry is known to be safe
        for path in (folder, folder / INCOMING, folder / LEAVING):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)

    async def put(self, content: bytes) -> BlobKey:
        """See Blobs."""
        key = key_of(content)
        await asyncio.to_thread(self._put, key, content)
        return key

    async def receive(self, key: BlobKey, size_bytes: int, chunks: AsyncIterator[bytes]) -> None:
        """See Blobs."""
        with self._incoming() as incoming:
            digest, received = sha256(), 0
            with self._create(incoming) as file:  # chunks are small; the sync is not
                async for chunk in chunks:
                    received += len(chunk)
                    if received > size_bytes:
                        raise WrongContentError(key, f"more than {size_bytes} bytes arrived")
                    digest.update(chunk)
                    file.write(chunk)
                if received != size_bytes:
                    raise WrongContentError(key, f"{received} of {size_bytes} bytes arrived")
                if digest.hexdigest() != key:
                    raise WrongContentError(key, f"its sha256 is {digest.hexdigest()}")
                await asyncio.to_thread(_sync, file)
            await asyncio.to_thread(self._name, incoming, key)

    async def read(self, key: BlobKey) -> bytes:
        """See Blobs."""
        return await asyncio.to_thread(self._read, key)

    async def read_part(self, key: BlobKey, start: int, size_bytes: int) -> bytes:
        """See Blobs."""
        return await asyncio.to_thread(self._read_part, key, start, size_bytes)

    async def place(self, key: BlobKey, target: Path) -> None:
        """See Blobs; a copy, since a link would share its owner and mode with the blob."""
        await asyncio.to_thread(self._copy, key, target)

    async def remove(self, key: BlobKey) -> None:
        """See Blobs."""
        await asyncio.to_thread(self._path(key).unlink, missing_ok=True)

    def _path(self, key: BlobKey) -> Path:
        return blob_path(self._folder, key)

    def _put(self, key: BlobKey, content: bytes) -> None:
        path = self._path(key)
        if _touch(path):
            sync_folder(path.parent)  # whoever named it may not have come so far yet
            return
        with self._incoming() as incoming:
            with self._create(incoming) as file:
                file.write(content)
                _sync(file)
            self._name(incoming, key)

    def _name(self, incoming: Path, key: BlobKey) -> None:
        path = self._path(key)
        for folder in (path.parent.parent, path.parent):
            self._make_folder(folder)
        while not _link(incoming, path) and not _touch(path):
            pass  # somebody else was first with the same content, and it was swept meanwhile
        sync_folder(path.parent)

    def _make_folder(self, folder: Path) -> None:
        """Make the folder safe; one that is there may be another process's, not yet synced."""
        if folder in self._synced:
            return
        folder.mkdir(exist_ok=True, mode=0o700)
        sync_folder(folder.parent)
        self._synced.add(folder)

    def _read_part(self, key: BlobKey, start: int, size_bytes: int) -> bytes:
        with self._open(key) as source:
            source.seek(start)
            return source.read(size_bytes)

    def _copy(self, key: BlobKey, target: Path) -> None:
        with self._open(key) as source, new_file(target) as copy:
            shutil.copyfileobj(source, copy, COPIED_BYTES)

    def _read(self, key: BlobKey) -> bytes:
        with self._open(key) as source:
            return source.read()

    def _open(self, key: BlobKey) -> IO[bytes]:
        path = self._path(key)
        for place in (path, self._folder / LEAVING / key, path):  # it may be put back meanwhile
            with suppress(FileNotFoundError):
                return place.open("rb")
        raise MissingBlobError(key)

    @contextmanager
    def _incoming(self) -> Iterator[Path]:
        path = self._folder / INCOMING / uuid4().hex
        try:
            yield path
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                log.error("storage.full", folder=str(self._folder))  # noqa: TRY400  # said once
                raise FullStorageError from error
            raise
        finally:
            path.unlink(missing_ok=True)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _link(incoming: Path, path: Path) -> bool:
    try:
        os.link(incoming, path)
    except FileExistsError:
        return False
    return True


def _touch(path: Path) -> bool:
    """Say of a file that it is wanted, so that no sweeper removes it; False: it is not there.

    The second look is needed: a file that was renamed aside between the finding of its name and
    the setting of its time has been touched too late.
    """
    try:
        os.utime(path)
        path.stat()
    except FileNotFoundError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in the folder safe."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
