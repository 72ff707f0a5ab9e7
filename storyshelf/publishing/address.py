"""What a path of a content host names. Pure: it takes the path as it was sent, still encoded.

Decoding comes after cutting at the slashes: `%2F` is part of a branch's name, and no way into a
folder.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from storyshelf.bundle.paths import BadPathError, parse_path
from storyshelf.ids import SnapshotId

INDEX = "index.html"
NUMBER = re.compile(r"[1-9][0-9]{0,9}")
MAX_NUMBER = 2**31 - 1
TRACE_FILE = re.compile(r"(?P<id>[1-9][0-9]{0,17})\.zip")


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where a hand-over is turned into a pass."""


@dataclass(frozen=True, slots=True)
class Front:
    """The host itself: the default branch's Storybook."""


@dataclass(frozen=True, slots=True)
class InBuild:
    """A file of a build; `path` may end with a slash, and is empty for the bundle's folder."""

    number: int
    path: str
    is_bare: bool = False  # `/builds/5`: relative links of what is there would go astray

    @property
    def location(self) -> str:
        """Return the address, as a browser is sent there."""
        return f"/builds/{self.number}/{quote(self.path)}"


@dataclass(frozen=True, slots=True)
class InBranch:
    """A file of whatever build is the branch's newest."""

    branch: str
    path: str


@dataclass(frozen=True, slots=True)
class TraceFile:
    """The trace of a snapshot, as it is stored."""

    snapshot_id: SnapshotId


@dataclass(frozen=True, slots=True)
class ViewerFile:
    """A file of the trace viewer, by its path in there."""

    path: str


Address = Entrance | Front | InBuild | InBranch | TraceFile | ViewerFile


def parse_address(raw_path: str) -> Address | None:
    """Return what the path names, whether it exists or not; None: nothing can be there."""
    segments = _decoded(raw_path)
    match segments:
        case [""]:
            return Front()
        case ["enter"]:
            return Entrance()
        case ["builds", number, *rest] if NUMBER.fullmatch(number) and int(number) <= MAX_NUMBER:
            path = _path(rest)
            return None if path is None else InBuild(int(number), path, not rest)
        case ["branches", branch, *rest] if branch and "\0" not in branch:
            path = _path(rest)
            return None if path is None else InBranch(branch, path)
        case _:
            return _of_traces(segments)


def _of_traces(segments: list[str]) -> TraceFile | ViewerFile | None:
    match segments:
        case ["traces", file] if named := TRACE_FILE.fullmatch(file):
            return TraceFile(SnapshotId(int(named["id"])))
        case ["trace-viewer", *rest] if rest:
            return ViewerFile("/".join(rest))
        case _:
            return None


def _decoded(raw_path: str) -> list[str]:
    """Return the path's segments, none where one is no UTF-8."""
    try:
        return [unquote_to_bytes(each).decode() for each in raw_path.removeprefix("/").split("/")]
    except UnicodeDecodeError:
        return []


def _path(segments: list[str]) -> str | None:
    """Return the path in a bundle, by the bundle's own rules."""
    if any("/" in each for each in segments):
        return None
    joined = "/".join(segments)
    file = joined.removesuffix("/")
    if not file:
        return "" if len(segments) <= 1 else None
    try:
        return parse_path(file) + joined[len(file) :]
    except BadPathError:
        return None
