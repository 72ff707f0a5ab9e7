"""The list of files of a bundle: parsed from a stranger's JSON, sorted, within its limits."""

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from storyshelf.bundle.paths import MAX_PATH_BYTES, parse_path, shown
from storyshelf.errors import BadInputError
from storyshelf.ids import BlobKey

MAX_FILES = 25_000  # ten times a large Storybook; the manifest stays under 5 MB of JSON
MAX_FILE_BYTES = 100 * 1024 * 1024
MAX_BUNDLE_BYTES = 2 * 1024 * 1024 * 1024

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ManifestLimits:
    """What one bundle may hold; the server publishes its own."""

    max_files: int = MAX_FILES
    max_file_bytes: int = MAX_FILE_BYTES
    max_bundle_bytes: int = MAX_BUNDLE_BYTES
    max_path_bytes: int = MAX_PATH_BYTES


DEFAULT_LIMITS = ManifestLimits()


@dataclass(frozen=True, slots=True, order=True)
class BundledFile:
    """One file: where it is in the bundle and what it holds."""

    path: str
    sha256: BlobKey
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a bundle, sorted by path; every path is safe, composed (NFC) and unique."""

    files: tuple[BundledFile, ...]

    def __post_init__(self) -> None:
        # A database sorts by its own collation; lookups and digests need this order.
        object.__setattr__(self, "files", tuple(sorted(self.files)))

    @property
    def total_bytes(self) -> int:
        """What the files weigh together; equal files count each time."""
        return sum(file.size_bytes for file in self.files)

    @property
    def digest(self) -> str:
        """Return one hash over all names and contents: equal bundles, equal digests."""
        whole = hashlib.sha256()
        for file in self.files:
            whole.update(f"{file.path}\0{file.sha256}\0{file.size_bytes}\n".encode())
        return whole.hexdigest()

    def find(self, path: str) -> BundledFile | None:
        """Look a file up by the path a browser asks for, already percent-decoded."""
        composed = unicodedata.normalize("NFC", path)
        position = bisect_left(self.files, composed, key=attrgetter("path"))
        found = self.files[position : position + 1]
        return found[0] if found and found[0].path == composed else None

    def case_collisions(self) -> tuple[tuple[str, ...], ...]:
        """Return groups of paths that differ in case only.

        They are allowed, because storage is by hash; whoever serves the bundle from a disk that
        ignores case would lose one of them, which deserves a warning.
        """
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for file in self.files:
            groups[file.path.casefold()].append(file.path)
        return tuple(tuple(paths) for paths in groups.values() if len(paths) > 1)


class BadEntryError(BadInputError):
    """An entry that is not {path, sha256, size}, or has a value that cannot be."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(
            f"Entry {position} of the manifest {problem}",
            where=f"files[{position}]",
            next_step="Send path and sha256 as text and size as a whole number of bytes.",
        )


class BadHashError(BadInputError):
    """A hash that is not 64 lower-case hex digits."""

    def __init__(self, path: str, sha256: str) -> None:
        super().__init__(
            f"The hash {shown(sha256)} is not a sha256",
            where=shown(path),
            next_step="Send the sha256 of the file's bytes as 64 lower-case hex digits.",
        )


class DuplicatePathError(BadInputError):
    """One path twice, also when only its Unicode form differs."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"The path {shown(path)} is listed twice",
            where="manifest",
            next_step="Every file is listed once; rename one if they differ in Unicode form only.",
        )


class TwoSizesError(BadInputError):
    """One content with two sizes: one of them is a lie."""

    def __init__(self, path: str, other: str) -> None:
        super().__init__(
            f"{shown(path)} and {shown(other)} have one hash and two sizes",
            where="manifest",
            next_step="Hash the files again; they may have changed meanwhile.",
        )


class FileAndFolderError(BadInputError):
    """A path that is a file and the folder of another file."""

    def __init__(self, path: str, inside: str) -> None:
        super().__init__(
            f"The path {shown(path)} is a file, and the folder of {shown(inside)}",
            where="manifest",
            next_step="Rename one of the two.",
        )


class ManifestTooLargeError(BadInputError):
    """More files or more bytes than a bundle may have."""

    http_status = 413

    def __init__(self, what: str, limit: int, unit: str, where: str) -> None:
        super().__init__(
            f"{what}; at most {limit:,} {unit} are allowed",
            where=where,
            next_step="Leave out what the Storybook does not need (source maps, videos, archives).",
        )


def parse_manifest(raw: Sequence[object], limits: ManifestLimits = DEFAULT_LIMITS) -> Manifest:
    """Turn a list of {"path", "sha256", "size"} into a manifest, or raise what is wrong first."""
    if len(raw) > limits.max_files:
        what = f"The bundle has {len(raw):,} files"
        raise ManifestTooLargeError(what, limits.max_files, "files", "manifest")
    parsed = [_parse_entry(position, entry, limits) for position, entry in enumerate(raw)]
    manifest = Manifest(tuple(parsed))
    _refuse_duplicates(manifest.files)
    _refuse_files_that_are_folders(manifest.files)
    _refuse_two_sizes(manifest.files)
    if manifest.total_bytes > limits.max_bundle_bytes:
        what = f"The bundle weighs {manifest.total_bytes:,} bytes"
        raise ManifestTooLargeError(what, limits.max_bundle_bytes, "bytes", "manifest")
    return manifest


def _parse_entry(position: int, entry: object, limits: ManifestLimits) -> BundledFile:
    if not isinstance(entry, Mapping):
        raise BadEntryError(position, "is not an object")
    path, sha256, size = entry.get("path"), entry.get("sha256"), entry.get("size")
    if not (isinstance(path, str) and isinstance(sha256, str)):
        raise BadEntryError(position, "has no path or no sha256")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise BadEntryError(position, f"({shown(path)}) has no size that is a whole number ≥ 0")
    if not _SHA256.fullmatch(sha256):
        raise BadHashError(path, sha256)
    if size > limits.max_file_bytes:
        what = f"The file weighs {size:,} bytes"
        raise ManifestTooLargeError(what, limits.max_file_bytes, "bytes", shown(path))
    return BundledFile(parse_path(path, limits.max_path_bytes), BlobKey(sha256), size)


def _refuse_duplicates(files: tuple[BundledFile, ...]) -> None:
    for file, following in pairwise(files):
        if file.path == following.path:
            raise DuplicatePathError(file.path)


def _refuse_files_that_are_folders(files: tuple[BundledFile, ...]) -> None:
    paths = {file.path for file in files}
    for file in files:
        folder = file.path
        while (cut := folder.rfind("/")) >= 0:
            folder = folder[:cut]
            if folder in paths:
                raise FileAndFolderError(folder, file.path)


def _refuse_two_sizes(files: tuple[BundledFile, ...]) -> None:
    seen: dict[BlobKey, BundledFile] = {}
    for file in files:
        first = seen.setdefault(file.sha256, file)
        if first.size_bytes != file.size_bytes:
            raise TwoSizesError(first.path, file.path)
