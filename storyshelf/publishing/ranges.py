"""Which bytes of a file a request asks for, and whether it has them already. Pure."""

import re
from dataclasses import dataclass

ONE_RANGE = re.compile(r"bytes=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes from `start` to before `end`."""

    start: int
    end: int

    @property
    def size_bytes(self) -> int:
        """Return how many they are."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """A range that begins where the file has ended."""


def asked_part(header: str | None, size_bytes: int) -> Part | Unsatisfiable | None:
    """Return the one range of a Range header; None: the whole file is answered.

    Several ranges at once are answered with the whole file, as every server may.
    """
    match = ONE_RANGE.fullmatch(header.strip()) if header else None
    if match is None:
        return None
    first, last = match.groups()
    if not first:
        return _suffix(last, size_bytes)
    start = int(first)
    if last and int(last) < start:
        return None  # it is no range at all
    end = min(int(last) + 1, size_bytes) if last else size_bytes
    return Part(start, end) if start < size_bytes else Unsatisfiable()


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Tell whether the browser has this content."""
    if if_none_match is None:
        return False
    known = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag in known or known == ["*"]


def _suffix(last: str, size_bytes: int) -> Part | Unsatisfiable | None:
    if not last:
        return None
    wanted = min(int(last), size_bytes)
    return Part(size_bytes - wanted, size_bytes) if wanted else Unsatisfiable()
