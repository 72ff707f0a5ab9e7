"""Takes blobs out of the folder again: only what nobody has touched for long, and undone if so.

Whoever finds a content present touches its file before he writes a row that names it. A file is
first renamed aside, where no new writer finds it but readers still do; then its time is looked at
once more. A touch that came before the rename is seen there, and the file put back; one that comes
after finds nothing to touch, and its writer stores the content again.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from storyshelf.ids import BlobKey
from storyshelf.storage.local import INCOMING, LEAVING, blob_path, sync_folder

KEY_LENGTH = 64
PREFIXES = tuple(f"{number:02x}" for number in range(256))


@dataclass(frozen=True, slots=True)
class Freed:
    """What was removed, or would be."""

    blobs: int = 0
    size_bytes: int = 0

    def __add__(self, other: "Freed") -> "Freed":
        return Freed(self.blobs + other.blobs, self.size_bytes + other.size_bytes)


class LocalSweeper:
    """Removes from the folder of a LocalBlobs; safe beside any number of its writers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / LEAVING).mkdir(parents=True, exist_ok=True, mode=0o700)

    async def remove_untouched(self, keys: Collection[BlobKey], before: datetime) -> Freed:
        """Remove those of the blobs that nobody has touched since."""
        return await asyncio.to_thread(self._remove_all, keys, before.timestamp())

    async def untouched(self, before: datetime) -> AsyncIterator[Mapping[BlobKey, int]]:
        """Yield all files that nobody has touched since, with their sizes, a folder at a time.

        Also where there are none: a large storage is searched for minutes.
        """
        for prefix in PREFIXES:
            yield await asyncio.to_thread(_old_files, self._folder / prefix, before.timestamp())

    async def end_unfinished(self, before: datetime) -> None:
        """End what a process left that died: half of a file coming, and files on their way out."""
        await asyncio.to_thread(self._end_unfinished, before.timestamp())

    def _remove_all(self, keys: Iterable[BlobKey], before_s: float) -> Freed:
        return sum((self._remove(key, before_s) for key in keys), start=Freed())

    def _remove(self, key: BlobKey, before_s: float) -> Freed:
        path, aside = blob_path(self._folder, key), self._folder / LEAVING / key
        try:
            if path.stat().st_mtime >= before_s:
                return Freed()
            path.rename(aside)
        except FileNotFoundError:
            return Freed()
        return self._let_go(aside, before_s)

    def _let_go(self, aside: Path, before_s: float) -> Freed:
        """Remove for good what lies aside, or put it back if somebody touched it on the way."""
        try:
            found = aside.stat()
            if found.st_mtime >= before_s:
                self._put_back(aside)
                return Freed()
            aside.unlink()
        except FileNotFoundError:  # another sweeper was faster
            return Freed()
        return Freed(1, found.st_size)

    def _put_back(self, aside: Path) -> None:
        path = blob_path(self._folder, BlobKey(aside.name))
        with suppress(FileExistsError):  # whoever missed it has stored it again
            os.link(aside, path)
        sync_folder(path.parent)  # before the other name goes: a crash must not take both
        aside.unlink()

    def _end_unfinished(self, before_s: float) -> None:
        for aside in list(os.scandir(self._folder / LEAVING)):
            # It may be named by a row: its sweeper died between the two looks. It goes back, and
            # is swept again if nobody names it.
            with suppress(FileNotFoundError):
                self._put_back(Path(aside.path))
        for half in list(os.scandir(self._folder / INCOMING)):
            with suppress(FileNotFoundError):
                if half.stat().st_mtime < before_s:
                    Path(half.path).unlink()


def _old_files(folder: Path, before_s: float) -> dict[BlobKey, int]:
    found = [entry for second in _entries(folder) for entry in _entries(Path(second.path))]
    sizes = {entry.name: _size_if_older(entry, before_s) for entry in found}
    return {
        BlobKey(name): size_bytes
        for name, size_bytes in sizes.items()
        if size_bytes is not None and len(name) == KEY_LENGTH
    }


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []


def _size_if_older(entry: "os.DirEntry[str]", before_s: float) -> int | None:
    try:
        found = entry.stat()
    except FileNotFoundError:
        return None
    return found.st_size if found.st_mtime < before_s else None
