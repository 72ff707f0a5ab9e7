"""The folder that the children of one consumer live in, and the end of what a dead one left."""

import asyncio
import fcntl
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from consumer.orphans import end_orphans
from consumer.slot_uids import locks_folder

PREFIX = "storyshelf-children-"
UNFINISHED = "storyshelf-new-"  # not locked yet: a sweep must not take it for a dead one's
LOCK = "lock"
OWNER_ONLY = 0o600  # who may read the lock can hold it, and would never be found orphaned
ENTER_ONLY = 0o711  # a child may pass through to its own folder and see no other

log = structlog.get_logger()


@contextmanager
def open_scratch(preferred: Path) -> Iterator[Path]:
    """Make a folder that other uids can enter, locked while we live.

    It is made in `preferred`, or in the system's temporary folder where a folder above that one
    is closed to others (a checkout under /root, say): nothing above is ever opened up.
    """
    with suppress(OSError):  # then the temporary folder must do
        preferred.mkdir(parents=True, exist_ok=True)
    base = preferred if reachable_by_others(preferred) else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=base))
    (folder / LOCK).touch(OWNER_ONLY)
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.chmod(ENTER_ONLY)
        folder = folder.rename(base / (PREFIX + folder.name.removeprefix(UNFINISHED)))
        try:
            yield folder
        finally:
            with suppress(OSError):  # the next who sweeps tries again
                _remove(folder)


def reachable_by_others(folder: Path) -> bool:
    """Tell whether every uid can enter this folder; one that does not exist cannot be entered."""
    resolved = folder.resolve()
    try:
        modes = [each.stat().st_mode for each in (resolved, *resolved.parents)]
    except OSError:
        return False
    return all(mode & stat.S_IXOTH for mode in modes)


async def sweep_beside(folder: Path) -> None:
    """Sweep where this folder is, beside all else; cancelled, it is over within WAIT_S.

    An orphan that will not die is waited for by nobody: a consumer claims meanwhile.
    """
    over = threading.Event()
    try:
        await asyncio.to_thread(sweep, folder.parent, over)
    except Exception as error:  # noqa: BLE001  # the next consumer that starts tries again
        log.warning("scratch.unswept", error=repr(error))
    finally:
        over.set()


def sweep(base: Path, over: threading.Event | None = None) -> None:
    """Remove what consumers that were killed left here; one that lives holds its lock.

    What still runs in there is killed first: else it would go on writing. Stops when it is `over`.
    """
    over = over or threading.Event()
    for folder in base.glob(PREFIX + "*"):
        if over.is_set():
            return
        with suppress(OSError):  # another sweeps at the same time, or it is not ours
            if folder.lstat().st_uid == os.geteuid() and _is_abandoned(folder):
                _clear(folder, over)


def _clear(folder: Path, over: threading.Event) -> None:
    if survivors := end_orphans(folder, locks_folder(), over):
        log.error("scratch.survivors", folder=str(folder), pids=sorted(survivors))
        return  # the next consumer that starts tries again
    if not over.is_set():
        _remove(folder)
        log.info("scratch.swept", folder=str(folder))


def _remove(folder: Path) -> None:
    """Remove it with its lock last: one without a lock is nobody's, and would stay for ever."""
    for each in folder.iterdir():
        if each.name == LOCK:
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    (folder / LOCK).unlink()
    folder.rmdir()


def _is_abandoned(folder: Path) -> bool:
    with (folder / LOCK).open("r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
