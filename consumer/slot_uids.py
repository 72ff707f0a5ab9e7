"""Uids for browsers: no two children on this machine share one, whatever consumer they are of."""

import fcntl
import os
import pwd
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from consumer import processes
from storyshelf.errors import StoryshelfError

FIRST_UID = 61_000  # between what people and what systemd's dynamic users get
SPAN = 180  # systemd's dynamic users begin at 61184
LOWEST, HIGHEST = (
    1_000,
    2**32 - 2,
)  # below are the system's users; the last number means "no change"


class BadUidRangeError(StoryshelfError):
    """The first uid leaves no room for the others, or is one that matters."""

    def __init__(self, first: int) -> None:
        super().__init__(
            f"browsers cannot run under uids from {first} on",
            next_step=f"Use a first uid between {LOWEST} and {HIGHEST - SPAN}.",
        )


class NoSlotUidError(StoryshelfError):
    """Every uid of the range is taken."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(
            "no uid is free for a browser",
            where=f"uids {first} to {last}",
            next_step="Run fewer consumers on this machine, or set another first uid.",
        )


class UntrustedFolderError(StoryshelfError):
    """The folder of the locks belongs to somebody else, who could take uids away or share them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "the folder of the uid locks belongs to another user",
            where=str(folder),
            next_step="Remove it and start again.",
        )


@dataclass(frozen=True, slots=True)
class SlotUids:
    """The range, and the folder whose locked files say which of it are in use."""

    locks: Path
    first: int = FIRST_UID
    span: int = SPAN
    occupants: Callable[[int], Collection[int]] = processes.under_uid

    def __post_init__(self) -> None:
        """Refuse root, the system's users and the number that setuid takes for "no change"."""
        if not LOWEST <= self.first <= HIGHEST - self.span:
            raise BadUidRangeError(self.first)

    @contextmanager
    def lease(self) -> Iterator[int]:
        """Take a uid that nobody has and nothing runs under; we lose it only by dying."""
        self.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.locks.lstat().st_uid != os.geteuid() or self.locks.is_symlink():
            raise UntrustedFolderError(self.locks)
        for uid in range(self.first, self.first + self.span):
            if uid == os.geteuid() or is_a_users(uid):
                continue
            with (self.locks / str(uid)).open("w") as lock:
                if _is_locked(lock.fileno()) or self.occupants(uid):
                    continue  # a consumer of another user looks at other locks
                yield uid
                return
        raise NoSlotUidError(self.first, self.first + self.span - 1)


def locks_folder() -> Path:
    """Return where all consumers of this machine look: /run, else the temporary folder."""
    run = Path("/run")
    base = run if os.access(run, os.W_OK) else Path(tempfile.gettempdir())
    return base / "storyshelf-uids"


def is_a_users(uid: int) -> bool:
    """Tell whether this machine knows a user by that number: it is never a slot's then."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
