"""How many CPUs and how much memory this process may use, by affinity and control groups."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OWN = Path("/proc/self/cgroup")
MOUNTS = Path("/sys/fs/cgroup")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
NO_LIMIT_BYTES = 1 << 60  # version 1 writes "no limit" as a huge number
HIERARCHICAL = "hierarchical_memory_limit "


@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of a process, version 1 or 2, as far up as they can be seen."""

    own: str  # the text of /proc/<pid>/cgroup
    mounts: Path

    def folders(self, controller: str) -> Iterator[Path]:
        """Yield the folders that limit this process, from its own to the outermost."""
        for line in self.own.splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                mounts = (self.mounts, self.mounts / "unified")
            elif controller in controllers.split(","):
                mounts = (self.mounts / controllers, self.mounts / controller)
            else:
                continue
            for mount in mounts:
                yield from _upwards(mount, path)

    def cpu_quota(self) -> float | None:
        """Return the tightest quota in CPUs, None where there is none."""
        quotas = [_quota_of(folder) for folder in self.folders("cpu")]
        return min((quota for quota in quotas if quota is not None), default=None)

    def memory_limit_bytes(self) -> int | None:
        """Return the tightest limit, None where there is none."""
        limits = [limit for folder in self.folders("memory") for limit in _limits_of(folder)]
        return min(limits, default=None)


def own_groups() -> Groups:
    """Return the groups of this process; there are none where the kernel has none."""
    return Groups(_read(OWN), MOUNTS)


def allowed_cpus(quota: float | None, affine: int) -> int:
    """Return how many CPUs work for us; part of one is none, but there is always one."""
    return max(1, affine if quota is None else min(affine, int(quota)))


def memory_limit_bytes() -> int | None:
    """Return the tightest limit of our control groups, None where there is none."""
    return own_groups().memory_limit_bytes()


def memory_bytes() -> int:
    """Return how much memory there is for us: the machine's, or what our groups allow."""
    machine = os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
    return min(machine, memory_limit_bytes() or machine)


def cpus() -> int:
    """Return how many CPUs this process may keep busy."""
    return allowed_cpus(own_groups().cpu_quota(), len(os.sched_getaffinity(0)))


def _upwards(mount: Path, path: str) -> Iterator[Path]:
    # A group above the root of our namespace is written with "..", and cannot be seen.
    folder = mount.joinpath(*(part for part in path.split("/") if part not in ("", "..")))
    while folder != mount:
        yield folder
        folder = folder.parent
    yield mount


def _quota_of(folder: Path) -> float | None:
    quota, _, period = _read(folder / "cpu.max").strip().partition(" ")
    if not quota:
        quota = _read(folder / "cpu.cfs_quota_us").strip()
        period = _read(folder / "cpu.cfs_period_us").strip()
    if not (quota.isdecimal() and period.isdecimal() and int(period)):
        return None  # "max", or -1
    return int(quota) / int(period)


def _limits_of(folder: Path) -> Iterator[int]:
    said = [_read(folder / name).strip() for name in ("memory.max", "memory.limit_in_bytes")]
    above = [
        line.removeprefix(HIERARCHICAL)
        for line in _read(folder / "memory.stat").splitlines()
        if line.startswith(HIERARCHICAL)
    ]
    for text in (*said, *above):
        if text.isdecimal() and int(text) < NO_LIMIT_BYTES:
            yield int(text)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # not there, or not for us
        return ""
