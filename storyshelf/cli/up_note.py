"""Which `storyshelf up` runs on a data folder: a lock that one holds, and a note of what it is."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from storyshelf.db.cluster import ENTER_ONLY, write_private
from storyshelf.db.server_process import lives
from storyshelf.errors import StoryshelfError

LOCK = "up.lock"
NOTE = "up.json"


class ClosedDataError(StoryshelfError):
    """The data folder is somebody else's."""

    def __init__(self, data_dir: Path, reason: str) -> None:
        super().__init__(
            f"The data folder cannot be used: {reason}",
            where=str(data_dir),
            next_step="Set STORYSHELF_DATA_DIR to a folder of yours, or run as its owner.",
        )


@dataclass(frozen=True, slots=True)
class Note:
    """What the holder of the lock says of itself; one without a url is still starting."""

    pid: int
    url: str | None = None
    project: str | None = None
    owns_database: bool = False


@contextmanager
def alone(data_dir: Path) -> Iterator[int | None]:
    """Hold the folder's lock while the block lasts and yield its descriptor; None: it is taken.

    Who inherits the descriptor holds the lock too, until it ends in whatever way.
    """
    try:
        _make(data_dir)
        descriptor = os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ClosedDataError(data_dir, error.strerror or str(error)) from error
    try:
        yield descriptor if _locked(descriptor) else None
    finally:
        os.close(descriptor)


def write_note(data_dir: Path, note: Note) -> None:
    """Say what runs here; for the holder of the lock only."""
    write_private(data_dir / NOTE, json.dumps(asdict(note)))


def read_note(data_dir: Path) -> Note | None:
    """Return what was said last; None if that ended in order."""
    try:
        return Note(**json.loads((data_dir / NOTE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def remove_note(data_dir: Path) -> None:
    """Say that nothing runs any more."""
    (data_dir / NOTE).unlink(missing_ok=True)


def is_alive(note: Note) -> bool:
    """Tell whether the one that wrote the note lives; the lock may outlive it by its clean-up."""
    return lives(note.pid)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make(data_dir: Path) -> None:
    if not data_dir.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        data_dir.chmod(ENTER_ONLY)  # the database's user passes through it
