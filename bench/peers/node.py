"""Puts in place the peers that are Node programs: pinned by a lock file, apart from ours."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from storyshelf.errors import StoryshelfError

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).with_name("npm")  # package.json, its lock, and how test-runner shoots
INSTALLED = REPOSITORY / ".setup" / "peers-npm"
STAMP = INSTALLED / "made-from"
PATIENCE_S = 240
# What they say they cannot do without is Storybook itself: ours is found above `.setup`.
INSTALL = ("npm", "ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund")


class PeersNotInstalledError(StoryshelfError):
    """The peers' packages could not be had."""

    def __init__(self, said: str) -> None:
        last = said.strip().splitlines()[-5:]
        super().__init__(
            "The takers of pictures to measure beside could not be installed",
            where=str((SOURCES / "package-lock.json").relative_to(REPOSITORY)),
            next_step=f"npm said: {' | '.join(last) or 'nothing'}",
        )


def peers_folder() -> Path:
    """Return the folder whose `node_modules` has the peers, after filling it if it must be."""
    wanted = _fingerprint()
    if not (STAMP.exists() and STAMP.read_text() == wanted):
        print("installing the peers of bench/peers/npm (a minute)", flush=True)
        shutil.rmtree(INSTALLED, ignore_errors=True)
        shutil.copytree(SOURCES, INSTALLED)
        _install()
        STAMP.write_text(wanted)
    return INSTALLED


def _fingerprint() -> str:
    state = hashlib.sha256()
    for file in sorted(path for path in SOURCES.rglob("*") if path.is_file()):
        state.update(f"\0{file.relative_to(SOURCES)}\0".encode() + file.read_bytes())
    return state.hexdigest()


def _install() -> None:
    no_downloads = {"PUPPETEER_SKIP_DOWNLOAD": "1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    try:
        done = subprocess.run(
            INSTALL,
            cwd=INSTALLED,
            env=os.environ | no_downloads,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise PeersNotInstalledError(str(error)) from error
    if done.returncode:
        raise PeersNotInstalledError(done.stderr or done.stdout)
