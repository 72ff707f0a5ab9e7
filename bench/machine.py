"""What the figures were taken on."""

import os
import platform
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, Any]:
    """Return the facts without which a figure means nothing; the load is of the last minute."""
    return {
        "cores": cores(),
        "processor": _processor(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    if not CPUINFO.exists():
        return platform.machine()
    names = [line.partition(":")[2] for line in CPUINFO.read_text().splitlines() if "name" in line]
    return names[0].strip() if names else platform.machine()
