"""`python -m tests.flow.crash_database FOLDER`: stop that server at once, and start it again."""

import os
import signal
import sys
from pathlib import Path

from storyshelf.db.embedded import PRODUCTION, EmbeddedPostgres
from tests.db.server import chosen_binaries


def crash(folder: Path) -> None:
    server = EmbeddedPostgres(folder, chosen_binaries(), settings=PRODUCTION)
    pid = server.status().pid
    assert pid is not None, "the server runs"
    os.kill(pid, signal.SIGQUIT)  # PostgreSQL's immediate stop: no checkpoint, recovery at start
    server.start()


if __name__ == "__main__":
    crash(Path(sys.argv[1]))
