"""The folder that the children of one consumer live in, and the end of what a dead one left."""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

PREFIX = "storyshelf-children-"
UNFINISHED = "storyshelf-new-"  # not locked yet: a sweep must not take it for a dead one's
LOCK = "lock"
ENTER_ONLY = 0o711  # a child may pass through to its own folder and see no other

log = structlog.get_logger()


@contextmanager
def open_scratch(preferred: Path) -> Iterator[Path]:
    """Make a folder that other uids can enter, locked while we live; swept by the next who comes.

    It is made in `preferred`, or in the system's temporary folder where a folder above that one
    is closed to others (a checkout under /root, say): nothing above is ever opened up.
    """
    with suppress(OSError):  # then the temporary folder must do
        preferred.mkdir(parents=True, exist_ok=True)
    base = preferred if reachable_by_others(preferred) else Path(tempfile.gettempdir())
    sweep(base)
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=base))
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.chmod(ENTER_ONLY)
        folder = folder.rename(base / (PREFIX + folder.name.removeprefix(UNFINISHED)))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def reachable_by_others(folder: Path) -> bool:
    """Tell whether every uid can enter this folder; one that does not exist cannot be entered."""
    resolved = folder.resolve()
    try:
        modes = [each.stat().st_mode for each in (resolved, *resolved.parents)]
    except OSError:
        return False
    return all(mode & stat.S_IXOTH for mode in modes)


def sweep(base: Path) -> None:
    """Remove what consumers that were killed left here; one that lives holds its lock."""
    for folder in base.glob(PREFIX + "*"):
        with suppress(OSError):  # another sweeps at the same time, or it is not ours
            if folder.lstat().st_uid == os.geteuid() and _is_abandoned(folder):
                shutil.rmtree(folder)
                log.info("scratch.swept", folder=str(folder))


def _is_abandoned(folder: Path) -> bool:
    with (folder / LOCK).open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
