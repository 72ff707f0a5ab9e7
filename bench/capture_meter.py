"""What a process and all below it take: processor time, and memory with shared pages counted once.

Linux only: it reads /proc.
"""

import os
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from consumer.memory import used_bytes
from consumer.processes import PROC, descendants

LOOK_EVERY_S = 0.2
LOOKS_PER_WEIGHING = 3  # to weigh two browsers takes 10 ms, to read their times 3
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
OWN = slice(11, 13)  # utime and stime in /proc/<pid>/stat, counted from the state
WITH_WAITED_FOR = slice(11, 15)  # and those of children that ended and were waited for
STARTED = 19

Life = tuple[int, int]  # a pid and when it started: pids come again


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a tree took; `peak_bytes` is of one moment."""

    cpu_s: float
    peak_bytes: int


class Meter:
    """Looks at a process's tree from a thread until `stop`.

    Processor time is known in two ways, and each can only miss some of it: what was seen of every
    process misses what it did after the last look, what the kernel adds up misses whom nobody
    waited for. The greater counts.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[Life, int] = {}
        self._peak_bytes = 0
        self._before = ticks_of(root, WITH_WAITED_FOR)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._weigh(self._look())
        self._seen_before = sum(self._seen.values())
        self._thread.start()

    def stop(self, process: "subprocess.Popen[str]") -> Reading:
        """Wait for the root's end and return what its tree took since the meter was made."""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self._over.set()
        self._thread.join()
        seen_s = (sum(self._seen.values()) - self._seen_before) / TICKS_PER_S
        added_up_s = used.ru_utime + used.ru_stime - self._before / TICKS_PER_S
        return Reading(max(seen_s, added_up_s), self._peak_bytes)

    def _watch(self) -> None:
        for number in count(1):
            if self._over.wait(LOOK_EVERY_S):
                return
            tree = self._look()
            if number % LOOKS_PER_WEIGHING == 0:
                self._weigh(tree)

    def _look(self) -> frozenset[int]:
        tree = descendants(self._root) | {self._root}
        self._seen.update(lives(tree))
        return tree

    def _weigh(self, tree: frozenset[int]) -> None:
        self._peak_bytes = max(self._peak_bytes, used_bytes(tree))


def lives(pids: Iterable[int]) -> dict[Life, int]:
    """Return the ticks that each living process has taken itself."""
    found = {}
    for pid in pids:
        fields = _fields(pid)
        if fields:
            found[pid, int(fields[STARTED])] = sum(map(int, fields[OWN]))
    return found


def ticks_of(pid: int, which: slice) -> int:
    """Return the ticks of one process, 0 when it is gone."""
    return sum(map(int, _fields(pid)[which]))


def _fields(pid: int) -> list[str]:
    """Return what stands behind the name, which may hold anything, a parenthesis too."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
