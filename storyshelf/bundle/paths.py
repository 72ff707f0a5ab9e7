"""The name of a file inside a bundle, and every name that is refused.

A path here becomes part of a URL and never of a file system (blobs are stored by hash), but it is
refused as if it could become both: what is harmless today is joined to a folder tomorrow.
"""

import re
import unicodedata
from urllib.parse import unquote

from storyshelf.errors import BadInputError

MAX_PATH_BYTES = 1024  # as UTF-8; well under the 2,704 bytes an index entry in PostgreSQL may have
DECODING_ROUNDS = 4  # proxies decode once, careless code twice; what needs more is an attack
CONTROLS = {"Cc", "Cs", "Zl", "Zp"}  # line and paragraph separators too: a log line is one line
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}  # `gpj.exe` shown as a jpg
SHOWN_CHARS = 120  # of a refused path: enough to recognise it, never a wall of text

_DRIVE = re.compile(r"^[A-Za-z]:")


class BadPathError(BadInputError):
    """A path of the manifest that can never be a file of a bundle."""

    problem = "is not a path inside the bundle"
    next_step = "Build the Storybook again and upload the folder that the build wrote."

    def __init__(self, path: str) -> None:
        super().__init__(
            f"The path {shown(path)} {self.problem}",
            where="manifest",
            next_step=type(self).next_step,
        )
        self.path = path


class AbsolutePathError(BadPathError):
    """It starts at a root, not at the bundle."""

    problem = "is absolute"
    next_step = "Paths are relative to the folder that holds iframe.html."


class DrivePathError(BadPathError):
    """It starts with a Windows drive."""

    problem = "starts with a drive letter"
    next_step = "Paths are relative to the folder that holds iframe.html."


class BackslashPathError(BadPathError):
    """It holds a backslash, which is a separator on Windows and part of a name elsewhere."""

    problem = "holds a backslash"
    next_step = "Separate folders with '/'; rename the file if the backslash is part of its name."


class TraversalPathError(BadPathError):
    """It walks: a segment is `.` or `..`."""

    problem = "has a '.' or '..' segment"
    next_step = "Only files under the Storybook's own folder can be uploaded."


class EmptySegmentError(BadPathError):
    """It is empty, or has nothing between two slashes, or ends with one."""

    problem = "has an empty segment"


class ControlCharacterPathError(BadPathError):
    """It holds NUL, a control character, one that turns text around, or bytes that are no UTF-8."""

    problem = "holds a control character or bytes that are not UTF-8"
    next_step = "Rename the file; such a name cannot be part of a URL."


class EncodedPathError(BadPathError):
    """Its percent-escapes decode to a path that is refused."""

    problem = "decodes to a path outside the bundle"
    next_step = "Rename the file so that its name holds no percent-escapes."


class PathTooLongError(BadPathError):
    """It is longer than the limit."""

    problem = f"is longer than {MAX_PATH_BYTES} bytes"
    next_step = "Shorten the file's name or its folders' names."


def parse_path(raw: str, max_bytes: int = MAX_PATH_BYTES) -> str:
    """Return the path in Unicode's composed form (NFC), or raise the `BadPathError` that names it.

    Composed, because macOS hands out decomposed names for what the HTML asks for composed.
    """
    refusal = _refusal(raw)
    if refusal is not None:
        raise refusal(raw)
    path = unicodedata.normalize("NFC", raw)
    if len(path.encode()) > max_bytes:
        raise PathTooLongError(path)
    if _decodes_to_refused(path):
        raise EncodedPathError(path)
    return path


def shown(text: str) -> str:
    """Quote a stranger's text for a message: escaped, and cut when long."""
    cut = text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
    return ascii(cut) if _has_control(cut) else repr(cut)


def _refusal(path: str) -> type[BadPathError] | None:
    segments = path.split("/")
    checks: tuple[tuple[bool, type[BadPathError]], ...] = (
        (_has_control(path), ControlCharacterPathError),
        ("\\" in path, BackslashPathError),
        (_DRIVE.match(path) is not None, DrivePathError),
        (path.startswith("/"), AbsolutePathError),
        (any(segment in {".", ".."} for segment in segments), TraversalPathError),
        ("" in segments, EmptySegmentError),
    )
    return next((error for refused, error in checks if refused), None)


def _has_control(text: str) -> bool:
    return any(
        unicodedata.category(character) in CONTROLS or unicodedata.bidirectional(character) in TURNS
        for character in text
    )


def _decodes_to_refused(path: str) -> bool:
    for _ in range(DECODING_ROUNDS):
        decoded = unquote(path, errors="surrogateescape")
        if decoded == path:
            return False
        if _refusal(decoded) is not None:
            return True
        path = decoded
    return True
