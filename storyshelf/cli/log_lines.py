"""Which lines of a process's log a person at the terminal has to see."""

import re
from pathlib import Path

STAMPED = re.compile(
    r"^\d{4}-\d\d-\d\dT\S+ \[(?P<level>\w+)\s*\]|^\{.*\"level\": \"(?P<json>\w+)\""
)
QUIET = frozenset({"debug", "info"})
MAX_BYTES = 10 * 2**20  # of a log; then it becomes the `.1` of the next start
PIECE_BYTES = 64 * 1024


class LogLines:
    """Follows one log from its present end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = path.stat().st_size if path.exists() else 0
        self._rest = b""

    def loud(self) -> list[str]:
        """Return the new lines of warnings and errors, and all that no logger wrote."""
        return [line for line in self._new_lines() if line.strip() and _is_loud(line)]

    def _new_lines(self) -> list[str]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as log:
            log.seek(self._position)
            piece = log.read(PIECE_BYTES)
        self._position += len(piece)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [line.decode(errors="replace") for line in lines]


def make_room(path: Path) -> None:
    """Put a log that has grown large aside; the one put aside before is lost."""
    if path.exists() and path.stat().st_size > MAX_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))


def _is_loud(line: str) -> bool:
    stamp = STAMPED.match(line)
    return stamp is None or (stamp["level"] or stamp["json"]) not in QUIET
