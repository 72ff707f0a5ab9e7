"""`python -m tests.flow.failing_consumer PLACE`: a consumer that dies by signal 9 at that place."""

import os
import signal
import sys

from consumer.main import main
from storyshelf.queue.failpoint import Place


def die_at(wanted: Place) -> None:
    """Run a consumer; there is no clean-up after a signal 9, as there is none after a power cut."""

    def failpoint(place: str) -> None:
        if place == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    main(failpoint)


if __name__ == "__main__":
    die_at(Place(sys.argv[1]))
