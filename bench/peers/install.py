"""Makes the venv that the peers run in: pinned, hashed, apart from ours."""

import hashlib
import subprocess
import sys
from pathlib import Path

from storyshelf.errors import StoryshelfError

REPOSITORY = Path(__file__).resolve().parents[2]
LOCK = REPOSITORY / "requirements" / "bench.txt"
VENV = REPOSITORY / ".setup" / "peers"
STAMP = VENV / "made-from"
PATIENCE_S = 240


class PeersNotInstalledError(StoryshelfError):
    """The peers' packages could not be had."""

    def __init__(self, said: str) -> None:
        super().__init__(
            "The queues to measure beside could not be installed",
            where=str(LOCK.relative_to(REPOSITORY)),
            next_step=f"pip said: {said.strip() or 'nothing'}",
        )


def peers_python() -> Path:
    """Return the interpreter that has the peers, after making it if it is not there."""
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    python = VENV / "bin" / "python"
    if not (STAMP.exists() and STAMP.read_text() == wanted and python.exists()):
        print("installing the peers of requirements/bench.txt (under a minute)", flush=True)
        _run(sys.executable, "-m", "venv", "--clear", str(VENV))
        _run(str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK))
        STAMP.write_text(wanted)
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if done.returncode:
        raise PeersNotInstalledError(done.stderr)
