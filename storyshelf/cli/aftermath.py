"""Watches over `storyshelf up` and cleans up behind it if it is killed.

`up` starts this as a process and tells it, a line each, which processes it has started and that
the embedded database is its own. If `up` ends without having said that all is done, this one ends
what is left, in the same order, and keeps `up`'s lock until then: the next `up` waits for it.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from storyshelf.db.embedded import EmbeddedPostgres

DONE = "done"
DATABASE = "database"


def main(data_dir: Path, grace_s: float, words: Iterable[str]) -> None:
    """Listen until `up` is gone, then do what it could not."""
    watched: list[int] = []
    owns_database = False
    for word in map(str.strip, words):
        if word == DONE:
            return
        if word == DATABASE:
            owns_database = True
        else:
            watched += _opened(int(word))
    end_all(watched, grace_s)
    if owns_database:
        EmbeddedPostgres(data_dir).stop()


def end_all(watched: list[int], grace_s: float) -> None:
    """Ask every process to end and kill what is left after the grace; by descriptor, never by pid.

    A number may be another process's by now; a descriptor is the process that it was opened on.
    """
    for sign, within_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, grace_s)):
        for descriptor in watched:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, sign)
        watched = _left(watched, within_s)


def _opened(pid: int) -> list[int]:
    try:
        return [os.pidfd_open(pid)]
    except ProcessLookupError:  # it has ended, and `up` knows
        return []


def _left(watched: list[int], within_s: float) -> list[int]:
    poll = select.poll()
    left = set(watched)
    for descriptor in left:
        poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + within_s
    while left and (rest_s := deadline - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(rest_s * 1000):
            poll.unregister(descriptor)
            left.discard(descriptor)
    return sorted(left)


if __name__ == "__main__":
    for ours in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ours, signal.SIG_IGN)  # whoever ends `up` by these lets it clean up itself
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.stdin)
