"""What this process may do to its uids, and what is taken from the processes it starts."""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

from storyshelf.errors import StoryshelfError

# Numbers of linux/capability.h.
NEEDED = {"CHOWN": 0, "DAC_OVERRIDE": 1, "KILL": 5, "SETGID": 6, "SETUID": 7}
SETPCAP = 8
PR_SET_DUMPABLE = 4
# A child that stays ours must still start its browser under another uid, and end it.
FOR_THE_BROWSER = ("kill", "setgid", "setuid")


class StillReadableError(StoryshelfError):
    """The kernel did not let this process close itself to others of its uid."""

    def __init__(self, number: int) -> None:
        super().__init__(
            "this process could not be made unreadable for its children",
            where=f"prctl: {os.strerror(number)}",
            next_step="Run the consumer as root, so that browsers get a uid of their own.",
        )


@dataclass(frozen=True, slots=True)
class Privileges:
    """The effective uid and capabilities of this process."""

    uid: int
    capabilities: frozenset[int]

    def missing(self) -> tuple[str, ...]:
        """Return the names of what is needed to give a browser a uid of its own and is not here."""
        return tuple(name for name, bit in NEEDED.items() if bit not in self.capabilities)


@dataclass(frozen=True, slots=True)
class Dropping:
    """A command prefix that takes rights away, and the uid it changes to (None: ours stays)."""

    uid: int | None
    argv: tuple[str, ...]


def own_privileges(status: Path = Path("/proc/self/status")) -> Privileges:
    """Read what this process may do; where there is no /proc, nothing special."""
    lines = status.read_text().splitlines() if status.is_file() else []
    mask = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return Privileges(os.geteuid(), frozenset(bit for bit in range(64) if mask >> bit & 1))


def drop_to(uid: int, setpriv: str) -> Dropping:
    """Become that uid with no group of ours, no capability and no way to get one."""
    as_whom = (f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
    return Dropping(uid, (setpriv, *as_whom, *_without(()), "--no-new-privs"))


def keep_uid(setpriv: str, privileges: Privileges, keep: tuple[str, ...] = ()) -> Dropping:
    """Stay the same uid with only the capabilities named here.

    Root without capabilities is refused the memory and the environment of a root that has them.
    """
    bounding = f"--bounding-set={_only(keep)}"
    limits = (bounding,) if SETPCAP in privileges.capabilities else ()
    return Dropping(None, (setpriv, *_without(keep), *limits, "--no-new-privs"))


def dying_with_parent(dropping: Dropping) -> tuple[str, ...]:
    """Return the prefix for a process that the kernel kills when this one ends, however it ends.

    The hop over `env` matters: setpriv still has our rights when it executes, so it would start an
    interpreter that the uid cannot reach, and that one would then pick up another one's library.
    """
    return (*dropping.argv, "--pdeathsig=KILL", "env") if dropping.argv else ()


def become_unreadable() -> None:
    """Close this process's memory and environment to others of the same uid (Linux only)."""
    libc = ctypes.CDLL(None, use_errno=True)
    prctl = getattr(libc, "prctl", None)
    if prctl is not None and prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise StillReadableError(ctypes.get_errno())


def _without(keep: tuple[str, ...]) -> tuple[str, ...]:
    return (f"--inh-caps={_only(keep)}", f"--ambient-caps={_only(keep)}")


def _only(keep: tuple[str, ...]) -> str:
    return ",".join(("-all", *(f"+{name}" for name in keep)))
