"""`python -m tests.flow.failing_consumer PLACE NTH [COMMAND...]`: a consumer that is cut off.

The NTH time it comes to that place it dies by signal 9, after which nothing cleans up; with a
command it runs that instead, waits for its end, and goes on.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from consumer.main import run
from storyshelf.queue.failpoint import Place


def cut_off_at(wanted: Place, nth: int, command: Sequence[str]) -> None:
    passed = 0

    def failpoint(place: str) -> None:
        nonlocal passed
        passed += place == wanted
        if place != wanted or passed != nth:
            return
        if not command:
            os.kill(os.getpid(), signal.SIGKILL)
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)

    run(failpoint)


if __name__ == "__main__":
    cut_off_at(Place(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
