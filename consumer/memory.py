"""How much memory a child and its browser really take, read from /proc; to be run on a thread.

A browser's processes share most of what they map: summed up as resident, an empty page is 390 MiB
in seven processes, of which 170 MiB are there once. So a shared page is counted in parts (PSS).
That costs 3 ms for such a browser, against 0.1 ms for the resident sizes.
"""

from collections.abc import Iterable
from pathlib import Path

from consumer import processes

PSS = b"Pss:"


def used_bytes(pids: Iterable[int], proc: Path = processes.PROC) -> int:
    """Return the memory that these processes take together.

    Where the kernel does not show us a process's share, its resident size counts: too much, never
    too little.
    """
    return sum(_used_bytes(pid, proc) for pid in pids)


def _used_bytes(pid: int, proc: Path) -> int:
    try:
        rollup = (proc / str(pid) / "smaps_rollup").read_bytes()
    except OSError:  # of another uid and we may not trace it, an old kernel, or it has just ended
        rollup = b""
    shares = [line.split()[1] for line in rollup.splitlines() if line.startswith(PSS)]
    return 1024 * int(shares[0]) if shares else processes.resident_bytes([pid])
