"""Which process ids mean the same as ours, and whether a process of that world still lives."""

import os
import socket
from pathlib import Path

from consumer import processes

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
PID_NAMESPACE = Path("/proc/self/ns/pid")


def own_machine() -> str:
    """Return what is the same only for processes that see each other; "" if it cannot be told.

    A host name alone proves nothing: containers on two machines may have the same one, and two on
    one machine do not see each other's processes. So it is one boot of one kernel, and one
    namespace of process ids in it. The name is there for copies of one virtual machine in memory.
    """
    try:
        boot, namespace = BOOT_ID.read_text().strip(), PID_NAMESPACE.stat().st_ino
    except OSError:  # no Linux, or a sandbox that hides it
        return ""
    return f"{boot}:{namespace}:{socket.gethostname()}"


def own_start_ticks() -> int:
    """Return when this process started, 0 if it cannot be told."""
    return processes.start_ticks(os.getpid())


def is_gone(pid: int, start_ticks: int) -> bool:
    """Tell whether the process that started then has ended; its id may be another's by now.

    What cannot be looked at is taken to live.
    """
    if processes.is_dead(pid):
        return True
    return processes.start_ticks(pid) not in (0, start_ticks)
