"""What runs on this machine, read from /proc; where there is none, nothing is found.

A browser leads a session of its own, so killing a child's process group does not reach it. It is
found by the uid it runs under, or by the home folder in its environment: each child has its own.
"""

import os
import select
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
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


def under_uid(uid: int) -> frozenset[int]:
    """Return the processes whose real uid this is; one that has only to be reaped is no more."""
    return frozenset(pid for pid in _pids() if _real_uid(pid) == uid and not is_zombie(pid))


def at_home(home: Path) -> frozenset[int]:
    """Return the processes that were started with this HOME, as far as we may look."""
    marker = b"\0HOME=" + os.fsencode(home) + b"\0"
    return frozenset(pid for pid in _pids() if marker in b"\0" + _read(pid, "environ") + b"\0")


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
    candidates = (*_memory_cgroup_files(), PROC / "vmstat")
    return next((path for path in candidates if path.is_file()), None)


def memory_limit_bytes() -> int | None:
    """Return the limit of our memory cgroup, None where there is none."""
    for path in _memory_cgroup_files():
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit = path.with_name(name)
            text = limit.read_text().strip() if limit.is_file() else "max"
            if text.isdecimal() and int(text) < 1 << 60:  # v1 writes "no limit" as a huge number
                return int(text)
    return None


def memory_bytes() -> int:
    """Return how much memory there is for us: the machine's, or what our cgroup allows."""
    machine = os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
    return min(machine, memory_limit_bytes() or machine)


def _memory_cgroup_files() -> Iterator[Path]:
    mounts = Path("/sys/fs/cgroup")
    own = PROC / "self" / "cgroup"
    for line in own.read_text().splitlines() if own.is_file() else ():
        _, controllers, path = line.split(":", 2)
        inside = path.lstrip("/")
        if not controllers:
            yield mounts / inside / "memory.events"
        if controllers == "memory":
            yield mounts / "memory" / inside / "memory.oom_control"
            yield mounts / "memory" / "memory.oom_control"  # a container sees itself as the root


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
