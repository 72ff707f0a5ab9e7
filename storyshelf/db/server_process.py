"""Whether the server's process lives, told from its pid file without trusting it."""

import os
from pathlib import Path

PROC = Path("/proc")


def live_pid(pid_file: Path) -> int | None:
    """Return the process of the pid file if it lives; a zombie does not."""
    pid = _written_pid(pid_file)
    return pid if pid is not None and _lives(pid) else None


def drop_stale_pid_file(pid_file: Path) -> None:
    """Remove a pid file that no process of this data folder stands behind.

    After kill -9 the number may belong to a zombie or, after a reboot, to a stranger: PostgreSQL
    sees only that it is taken and refuses to start. Its processes all work in the data folder, so
    that if nobody does, nobody is there. Where this cannot be told, the file stays.
    """
    if PROC.is_dir() and pid_file.exists() and not _anyone_in(pid_file.parent):
        pid_file.unlink(missing_ok=True)


def _written_pid(pid_file: Path) -> int | None:
    try:
        first = pid_file.read_text().partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdecimal() else None


def _lives(pid: int) -> bool:
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


def _anyone_in(folder: Path) -> bool:
    """Tell whether a process has that folder as its own; one that may not be asked counts."""
    there = folder.resolve()
    return any(_works_in(process, there) for process in PROC.iterdir() if process.name.isdecimal())


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink() == folder
    except OSError:
        return False  # gone, a zombie, or another user's: the server is ours or we are root
