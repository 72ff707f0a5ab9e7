"""The file of a backup: a tar that is written and read in one go, whatever its size.

In this order: `storyshelf-backup.json` says what it is, `database.dump` is PostgreSQL's own,
`files/` holds what lies in the data folder itself, `blobs/` one file each under its sha256, and
`sums.json` at the end the sums of all that is not named by its own. What ends before is cut off.
"""

import json
import os
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol

from storyshelf.auth.secrets import KEY_FILE
from storyshelf.client.saved import FILE_NAME
from storyshelf.db.migrate import steps_from
from storyshelf.errors import BadInputError
from storyshelf.ids import BlobKey
from storyshelf.storage.local import blob_path
from storyshelf.storage.local_sweep import KEY_LENGTH

FORMAT = 1
HEADER = "storyshelf-backup.json"
DUMP = "database.dump"
SUMS = "sums.json"
FILES = "files/"
BLOBS = "blobs/"
KEPT_FILES = (KEY_FILE, FILE_NAME)  # of the data folder itself; the rest is made anew
CHUNK_BYTES = 1024 * 1024
MAX_SMALL_BYTES = 1024 * 1024  # of the header and of each file beside the blobs
PRIVATE = 0o600
UNREADABLE = (tarfile.TarError, EOFError, ValueError, KeyError, TypeError, RecursionError)


class BadArchiveError(BadInputError):
    """A file that is no backup, or not a whole one."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The backup cannot be used: {problem}",
            next_step="Nothing was restored. Use another backup, or copy this one again.",
        )


@dataclass(frozen=True, slots=True)
class Header:
    """What a backup says of itself; without a database it holds blobs alone."""

    revision: str
    postgres_major: int | None
    version: str
    made_at: str
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Sums:
    """What a whole archive holds."""

    sums: Mapping[str, str]
    blobs: int
    blob_bytes: int


class Readable(Protocol):
    """What content is read from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes, fewer at the end."""
        ...


class ArchiveWriter:
    """Adds one part after the other."""

    def __init__(self, tar: tarfile.TarFile, header: Header) -> None:
        self._tar = tar
        self._sums: dict[str, str] = {}
        self._blobs = self._blob_bytes = 0
        self._add_text(HEADER, asdict(header))

    def add_file(self, name: str, source: IO[bytes], size_bytes: int) -> None:
        """Add a part from a file, and remember its sum."""
        summed = _Summing(source)
        self._add(name, summed, size_bytes)
        self._sums[name] = summed.hexdigest

    def add_blob(self, key: str, source: IO[bytes], size_bytes: int) -> None:
        """Add a blob, which was looked at: its name is its sum."""
        self._add(f"{BLOBS}{key}", source, size_bytes)
        self._blobs += 1
        self._blob_bytes += size_bytes

    def finish(self) -> Sums:
        """Add the sums; without them the archive is not whole."""
        sums = Sums(self._sums, self._blobs, self._blob_bytes)
        self._add_text(SUMS, asdict(sums))
        return sums

    def _add_text(self, name: str, document: Mapping[str, object]) -> None:
        content = json.dumps(document, indent=1).encode()
        self.add_file(name, BytesIO(content), len(content))

    def _add(self, name: str, source: Readable, size_bytes: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size_bytes, PRIVATE
        self._tar.addfile(member, source)


class _Summing:
    """Reads from a file and sums up what was read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._digest = sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._source.read(size)
        self._digest.update(content)
        return content

    @property
    def hexdigest(self) -> str:
        return self._digest.hexdigest()


@contextmanager
def writing(out: IO[bytes], header: Header) -> Iterator[ArchiveWriter]:
    """Write an archive to a stream."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        yield ArchiveWriter(tar, header)


def unpack(source: IO[bytes], folder: Path) -> tuple[Header, Sums]:
    """Unpack an archive into an empty folder, everything checked; raises BadArchiveError.

    Also SchemaAheadError, before anything else is read. Blobs come to lie as LocalBlobs has them.
    """
    try:
        with tarfile.open(fileobj=source, mode="r|*") as tar:
            return _unpack(tar, folder)
    except UNREADABLE as error:
        raise BadArchiveError(f"it cannot be read: {error}") from error


def _unpack(tar: tarfile.TarFile, folder: Path) -> tuple[Header, Sums]:
    header: Header | None = None
    sums, found, blobs, blob_bytes = None, {}, 0, 0
    for member in tar:
        content = tar.extractfile(member) if member.isreg() else None
        if content is None:
            raise BadArchiveError(f"{member.name!r} is no plain file")
        _require_room(member, folder)
        if header is None:
            header, found[HEADER] = _read_header(member, content)
        elif member.name == SUMS:
            sums = Sums(**json.loads(content.read(MAX_SMALL_BYTES)))
        elif member.name.startswith(BLOBS):
            _place_blob(folder, member.name.removeprefix(BLOBS), content)
            blobs, blob_bytes = blobs + 1, blob_bytes + member.size
        else:
            found[member.name] = _place(folder / _checked(member), content)
    if header is None or sums is None:
        raise BadArchiveError("its end is missing")
    if sums != Sums(found, blobs, blob_bytes):
        raise BadArchiveError("its parts are not those that it was made of")
    return header, sums


def _require_room(member: tarfile.TarInfo, folder: Path) -> None:
    """Go on if the part fits: what is packed small may be larger than any disk."""
    if member.size > shutil.disk_usage(folder).free:
        raise BadArchiveError(f"{member.name!r} has {member.size:,} bytes, more than are free here")


def _read_header(member: tarfile.TarInfo, content: IO[bytes]) -> tuple[Header, str]:
    if member.name != HEADER:
        raise BadArchiveError("it is no backup of storyshelf")
    text = content.read(MAX_SMALL_BYTES)
    header = Header(**json.loads(text))
    if header.format != FORMAT:
        raise BadArchiveError("it was made by a newer version of storyshelf")
    if not isinstance(header.postgres_major, int | None):
        raise BadArchiveError("it does not say which PostgreSQL it is of")
    steps_from(header.revision)  # raises if the schema is a later version's
    return header, sha256(text).hexdigest()


def _checked(member: tarfile.TarInfo) -> str:
    """Return where in the folder the part goes: nothing in an archive leads out of it."""
    name = member.name.removeprefix(FILES)
    is_kept = member.name.startswith(FILES) and name in KEPT_FILES
    if member.name != DUMP and not (is_kept and member.size <= MAX_SMALL_BYTES):
        raise BadArchiveError(f"{member.name!r} is no part of a backup")
    return name


def _place_blob(folder: Path, key: str, content: IO[bytes]) -> None:
    if len(key) != KEY_LENGTH or not key.isalnum():
        raise BadArchiveError(f"{key!r} names no blob")
    path = blob_path(folder / BLOBS, BlobKey(key))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if _place(path, content) != key:
        raise BadArchiveError(f"the content of blob {key} is damaged")


def _place(path: Path, content: IO[bytes]) -> str:
    digest = sha256()
    try:
        file = new_private(path)
    except FileExistsError:
        raise BadArchiveError(f"it holds {path.name!r} twice") from None
    with file:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def new_private(path: Path) -> IO[bytes]:
    """Open a new file that only its owner may read, from its first byte on."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb")
