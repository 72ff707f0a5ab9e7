"""What runs on in the cells of a consumer that is dead: found by its home or its uid, and killed.

A child dies with its consumer, by the kernel's own doing. Its browser leads a session of its own,
and one that was stopped or taken over need not notice.
"""

import fcntl
import os
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from consumer import processes
from consumer.slot_uids import LOWEST, is_a_users

CELLS = "cell-*"  # as `consumer.isolation` names them, with the homes of `consumer.cell` inside
HOMES = ("home", "child")
ROUNDS = 25  # a process that forks faster than it is found is found again
WAIT_S = 1.0  # of a round; between two of them it can be stopped


def end_orphans(scratch: Path, locks: Path, over: threading.Event) -> frozenset[int]:
    """Kill all that runs in the cells of a dead consumer's folder; return who would not die.

    Takes ROUNDS times WAIT_S where something will not, or until it is `over`.
    """
    for turn in range(ROUNDS):
        if turn and over.is_set():
            break
        with ExitStack() as held:
            found = _running_in(scratch, locks, held)
            if not found:
                return found
            processes.kill_all(found)
            processes.wait_gone(found, WAIT_S)
    with ExitStack() as held:  # what forked anew each time has outlived those that were found
        return _running_in(scratch, locks, held)


def abandoned(owners: Iterable[int], locks: Path, held: ExitStack) -> frozenset[int]:
    """Return those of the uids that are a dead consumer's: not ours, and not leased anew by now.

    Nor are they leased until `held` is closed: what is found under one is no living one's. A uid
    under which something runs is leased to nobody, so what runs under a free one is orphaned. The
    system's users and people never are, whoever made a folder theirs.
    """
    foreign = frozenset(owners) - {os.geteuid()}
    slots = frozenset(uid for uid in foreign if uid >= LOWEST and not is_a_users(uid))
    return frozenset(uid for uid in slots if _is_free(locks / str(uid), held))


def homes_of(cell: Path) -> tuple[Path, ...]:
    """Return the homes that are there; a link is none.

    In the weak form a child may write here, and a link would make its target's owner an orphan.
    """
    homes = (cell / home for home in HOMES)
    return tuple(home for home in homes if home.is_dir() and not home.is_symlink())


def _running_in(scratch: Path, locks: Path, held: ExitStack) -> frozenset[int]:
    homes = [home for cell in scratch.glob(CELLS) for home in homes_of(cell)]
    uids = abandoned([home.lstat().st_uid for home in homes], locks, held)
    at_home = processes.at_home(*homes) if homes else frozenset[int]()
    return at_home.union(*(processes.under_uid(uid) for uid in uids))


def _is_free(lock: Path, held: ExitStack) -> bool:
    if not lock.is_file():
        return True
    file = held.enter_context(lock.open("r+"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
