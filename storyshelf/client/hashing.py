"""Read a built Storybook from disk: which files, how large, and their hashes."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storyshelf.bundle.manifest import (
    DEFAULT_LIMITS,
    Manifest,
    ManifestLimits,
    ManifestTooLargeError,
    parse_manifest,
)
from storyshelf.bundle.paths import parse_path
from storyshelf.client.exit_codes import InvalidOptionsError

HASHING_THREADS = 16  # hashing leaves the interpreter's lock; more only wait for the disk

FilesHashed = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class HashedFolder:
    """A manifest, and for every content one file on disk that holds it."""

    manifest: Manifest
    sources: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class _FoundFile:
    path: str
    source: Path
    size_bytes: int


class NotAFolderError(InvalidOptionsError):
    """What is to be uploaded is not there, or is no folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "There is no such folder" if not folder.exists() else "This is not a folder",
            where=str(folder),
            next_step="Build the Storybook first (`storybook build`) and name the folder it wrote.",
        )


class LinkInBundleError(InvalidOptionsError):
    """A symbolic link, which would let a build publish any file of the machine."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "The folder holds a symbolic link, and links are not followed",
            where=str(path),
            next_step="Replace the link by a copy of what it points at.",
        )


class NotARegularFileError(InvalidOptionsError):
    """A pipe, a socket or a device."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "The folder holds something that is neither a file nor a folder",
            where=str(path),
            next_step="Delete it, or build into an empty folder.",
        )


class UnreadableFileError(InvalidOptionsError):
    """A file or folder that this user cannot read, or that went away meanwhile."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"The file cannot be read: {error.strerror or error}",
            where=str(path),
            next_step="Check its permissions, and that no build is writing into the folder.",
        )


def hash_folder(
    folder: Path,
    hashed: FilesHashed = lambda files, total: None,  # noqa: ARG005  # nobody watches
    limits: ManifestLimits = DEFAULT_LIMITS,
) -> HashedFolder:
    """Hash every file under the folder, in threads; `hashed(done, total)` is told as they finish.

    The folder itself may be a link, nothing in it may. What the server would refuse is refused
    here, before a byte is read.
    """
    if not folder.is_dir():
        raise NotAFolderError(folder)
    found = sorted(_walk(folder, ""), key=lambda file: file.path)
    _refuse_before_reading(found, limits, folder)
    raw: list[dict[str, object]] = []
    sources: dict[str, Path] = {}
    with ThreadPoolExecutor(HASHING_THREADS) as threads:
        for file, (sha256, size) in zip(found, threads.map(_hash_file, found), strict=True):
            raw.append({"path": file.path, "sha256": sha256, "size": size})
            sources.setdefault(sha256, file.source)
            hashed(len(raw), len(found))
    return HashedFolder(parse_manifest(raw, limits), sources)


def _walk(folder: Path, prefix: str) -> Iterator[_FoundFile]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield from _visit(entry, f"{prefix}{entry.name}")
    except OSError as error:
        raise UnreadableFileError(folder, error) from error


def _visit(entry: "os.DirEntry[str]", path: str) -> Iterator[_FoundFile]:
    source = Path(entry.path)
    if entry.is_symlink():
        raise LinkInBundleError(source)
    if entry.is_dir(follow_symlinks=False):
        yield from _walk(source, f"{path}/")
        return
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        raise NotARegularFileError(source)
    yield _FoundFile(path, source, found.st_size)


def _refuse_before_reading(found: list[_FoundFile], limits: ManifestLimits, folder: Path) -> None:
    if len(found) > limits.max_files:
        what = f"The folder holds {len(found):,} files"
        raise ManifestTooLargeError(what, limits.max_files, "files", str(folder))
    total_bytes = sum(file.size_bytes for file in found)
    if total_bytes > limits.max_bundle_bytes:
        what = f"The folder weighs {total_bytes:,} bytes"
        raise ManifestTooLargeError(what, limits.max_bundle_bytes, "bytes", str(folder))
    for file in found:
        parse_path(file.path, limits.max_path_bytes)
        if file.size_bytes > limits.max_file_bytes:
            what = f"The file weighs {file.size_bytes:,} bytes"
            raise ManifestTooLargeError(what, limits.max_file_bytes, "bytes", file.path)


def _hash_file(file: _FoundFile) -> tuple[str, int]:
    """Return hash and size of the same bytes: the size of a moment ago may be another's."""
    try:
        with file.source.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256")
            return digest.hexdigest(), opened.tell()
    except OSError as error:
        raise UnreadableFileError(file.source, error) from error
