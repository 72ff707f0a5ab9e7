"""What runs on this machine, read from /proc; where there is none, nothing is found.

A browser leads a session of its own, so killing a child's process group does not reach it. It is
found by the uid it runs under, or by the home folder in its environment: each child has its own.
"""

import os
import re
import select
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from consumer.allowance import own_groups

PROC = Path("/proc")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
START_FIELD = 19  # the 22nd of /proc/<pid>/stat, counted from its state
# Anchored: a name stands before these, and may hold anything but the end of a line.
STATUS = re.compile(rb"^State:\t(.).*?^PPid:\t(\d+)$.*?^Uid:\t(\d+)", re.MULTILINE | re.DOTALL)
OOM_COUNTERS = ("memory.events", "memory.oom_control")  # of control groups, version 2 and 1
OOM_KILLS = "oom_kill "  # the line of memory.events, memory.oom_control and vmstat alike


def descendants(root: int) -> frozenset[int]:
    """Return every living process below this one, whatever session it is in."""
    children = defaultdict(list)
    for pid, parent in _parents():
        children[parent].append(pid)
    found: set[int] = set()
    todo = [root]
    while todo:
        below = [pid for pid in children[todo.pop()] if pid not in found]
        found.update(below)
        todo.extend(below)
    return frozenset(found)


def family(root: int, uid: int) -> frozenset[int]:
    """Return this process, all below it, and all of that real uid, found in one look.

    One that forks twice and ends in between is below nobody, but keeps its uid.
    """
    children = defaultdict(list)
    found = {root}
    for pid in _pids():
        status = STATUS.search(_read(pid, "status"))
        if status is None or status[1] == b"Z":
            continue
        children[int(status[2])].append(pid)
        if int(status[3]) == uid:
            found.add(pid)
    todo = list(found)
    while todo:
        below = [pid for pid in children[todo.pop()] if pid not in found]
        found.update(below)
        todo.extend(below)
    return frozenset(found)


def under_uid(uid: int) -> frozenset[int]:
    """Return the processes whose real uid this is; one that has only to be reaped is no more."""
    return frozenset(pid for pid in _pids() if _real_uid(pid) == uid and not is_zombie(pid))


def at_home(*homes: Path) -> frozenset[int]:
    """Return the processes that were started with one of these as HOME, as far as we may look."""
    markers = [b"\0HOME=" + os.fsencode(home) + b"\0" for home in homes]
    found = ((pid, b"\0" + _read(pid, "environ") + b"\0") for pid in _pids())
    return frozenset(pid for pid, environ in found if any(mark in environ for mark in markers))


def kill_all(pids: Iterable[int]) -> None:
    """Kill each of them that is still there and ours to kill."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def wait_gone(pids: Iterable[int], timeout_s: float) -> frozenset[int]:
    """Block until they have all ended, at most that long; return those that have not.

    To be run on a thread. A process that has ended but was not reaped counts as gone.
    """
    survivors = dict(_opened(pids))
    watch = select.poll()
    for descriptor in survivors:
        watch.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + timeout_s
    try:
        while survivors:
            left_s = max(deadline - time.monotonic(), 0.0)
            for descriptor, _ in (ended := watch.poll(left_s * 1000)):
                watch.unregister(descriptor)
                os.close(descriptor)
                del survivors[descriptor]
            if not ended:
                break
        return frozenset(survivors.values())
    finally:
        for descriptor in survivors:
            os.close(descriptor)


def resident_bytes(pids: Iterable[int]) -> int:
    """Return the sum of their resident memory; pages they share count once for each."""
    fields = (_read(pid, "statm").split() for pid in pids)
    return sum(int(each[1]) for each in fields if each) * PAGE_BYTES


def is_zombie(pid: int) -> bool:
    """Tell whether it has ended and only waits for its parent to notice."""
    return _stat(pid)[:1] == [b"Z"]


def is_dead(pid: int) -> bool:
    """Tell whether it is a zombie or not there at all."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return is_zombie(pid)


def start_ticks(pid: int) -> int:
    """Return when it started, in ticks since the boot of the kernel; 0 if that cannot be read."""
    fields = _stat(pid)
    return int(fields[START_FIELD]) if len(fields) > START_FIELD else 0


def oom_kills(counter: Path | None) -> int:
    """Return how often the kernel killed for want of memory, by this counter."""
    if counter is None:
        return 0
    for line in counter.read_text().splitlines():
        if line.startswith(OOM_KILLS):
            return int(line.split()[1])
    return 0


def oom_counter() -> Path | None:
    """Return the file that counts such kills among us: our cgroup's, else the whole machine's."""
    folders = own_groups().folders("memory")
    counters = (folder / name for folder in folders for name in OOM_COUNTERS)
    candidates = (*counters, PROC / "vmstat")
    return next((path for path in candidates if path.is_file()), None)


def _opened(pids: Iterable[int]) -> Iterator[tuple[int, int]]:
    for pid in pids:
        with suppress(ProcessLookupError):
            yield os.pidfd_open(pid), pid


def _pids() -> Iterator[int]:
    if PROC.is_dir():
        yield from (int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())


def _parents() -> Iterator[tuple[int, int]]:
    for pid in _pids():
        state_and_parent = _stat(pid)
        if len(state_and_parent) > 1 and state_and_parent[0] != b"Z":
            yield pid, int(state_and_parent[1])


def _stat(pid: int) -> list[bytes]:
    return _read(pid, "stat").rpartition(b") ")[2].split()  # a name may hold spaces and brackets


def _real_uid(pid: int) -> int | None:
    for line in _read(pid, "status").splitlines():
        if line.startswith(b"Uid:"):
            return int(line.split()[1])
    return None


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:  # it has just ended, or may not be looked at
        return b""
