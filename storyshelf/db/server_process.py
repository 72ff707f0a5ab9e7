"""Whether the server's processes live, told from its pid file without trusting it.

The number in the file may belong to a zombie after kill -9, and to a stranger after a reboot. The
server's processes all work in its data folder, so that one that does not is none of them. The
question is asked as the server's own user: root in a container may not look at others' processes.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from storyshelf.db.server_user import ServerUser, run_as

PROC = Path("/proc")


def live_pid(pid_file: Path, user: ServerUser | None) -> int | None:
    """Return the pid file's process if it lives and is the server's."""
    pid = _written_pid(pid_file)
    if pid is None or not lives(pid):
        return None
    if PROC.is_dir() and not _works_in(pid_file.parent, [pid], user):
        return None
    return pid


def drop_stale_pid_file(pid_file: Path, user: ServerUser | None) -> None:
    """Remove a pid file that no process of this data folder stands behind.

    PostgreSQL sees only that the number is taken and refuses to start. Where it cannot be told
    who works in the folder, the file stays.
    """
    if not (PROC.is_dir() and pid_file.exists()):
        return
    everyone = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal()]
    if not _works_in(pid_file.parent, everyone, user):
        pid_file.unlink(missing_ok=True)


def _written_pid(pid_file: Path) -> int | None:
    try:
        first = pid_file.read_text().partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdecimal() else None


def lives(pid: int) -> bool:
    """Tell whether a process of that number runs, whoever it is; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(pid) not in {"Z", "X"}


def _state(pid: int) -> str:
    """Return the letter of the process's state; the name before it may hold any character."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "?"  # no /proc here, or just gone


def _works_in(folder: Path, pids: Iterable[int], user: ServerUser | None) -> bool:
    """Tell whether one of the processes has that folder as its own; a zombie has none."""
    links = [str(PROC / str(pid) / "cwd") for pid in pids]
    return str(folder.resolve()) in run_as(user, ["readlink", *links]).stdout.splitlines()
