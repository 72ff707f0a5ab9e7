"""The room of one child: its folders, its uid, the script that starts its browser, its environment.

<scratch>/<name>/     ours; others may only pass through
    browser           ours: the child executes it, so what runs in here must not write it
    child/            HOME and TMPDIR of the Python child
    home/             HOME, TMPDIR and profile of the browser
    bundle/           where the parent lays the bundle's files: to be read, not to be written
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from consumer.privileges import Dropping

PACKAGES = Path(__file__).resolve().parent.parent
# Where the fonts are decides the pictures, so a machine that moved them says so to its browser.
BROWSER_INHERITS = ("PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LD_LIBRARY_PATH")
FIXED = {"LANG": "C.UTF-8", "TZ": "UTC"}  # a picture does not depend on where it was taken
# The driver is a Node that mostly passes pictures on: with a young generation of its usual size it
# keeps 30 MiB of those that were passed on long ago.
DRIVER = {"NODE_OPTIONS": "--max-semi-space-size=1"}
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
OWNER_ONLY, ENTER_ONLY, GROUP_READS, ALL_RUN = 0o700, 0o711, 0o750, 0o755


@dataclass(frozen=True, slots=True)
class Cell:
    """Where one child lives, and as whom: `child` and `browser` say what is dropped for each."""

    folder: Path
    child: Dropping
    browser: Dropping

    @property
    def becoming(self) -> tuple[str, ...]:
        """The command prefix that takes us to the browser's uid; empty where that is ours."""
        if self.browser.uid is None:
            return ()
        return self.browser.argv or self.child.argv

    @property
    def browser_script(self) -> Path:
        """What to start as if it were the browser."""
        return self.folder / "browser"

    @property
    def home(self) -> Path:
        """The browser's."""
        return self.folder / "home"

    @property
    def child_home(self) -> Path:
        """The Python child's."""
        return self.folder / "child"

    @property
    def bundle(self) -> Path:
        """Readable in here, writable by the parent alone where uids differ."""
        return self.folder / "bundle"


def furnish(cell: Cell, browser: Path, environ: Mapping[str, str]) -> None:
    """Make the folders and the script; the cell's own folder must not exist yet."""
    cell.folder.mkdir()
    cell.folder.chmod(ENTER_ONLY)
    _owned(cell.home, cell.browser.uid, OWNER_ONLY)
    _owned(cell.child_home, cell.child.uid, OWNER_ONLY)
    cell.bundle.mkdir()
    os.chown(cell.bundle, -1, -1 if cell.browser.uid is None else cell.browser.uid)
    cell.bundle.chmod(GROUP_READS)
    cell.browser_script.write_text(browser_script(cell, browser, environ))
    cell.browser_script.chmod(ALL_RUN)


def browser_script(cell: Cell, browser: Path, environ: Mapping[str, str]) -> str:
    """Return the script: the browser as its uid, with an environment of its own and its profile.

    Playwright makes a profile folder as the uid of its caller and names it first; of two such
    switches Chromium takes the last.
    """
    settings = _inherited(environ) | FIXED | _homes(cell.home)
    pairs = [f"{name}={value}" for name, value in sorted(settings.items())]
    start = shlex.join([*cell.browser.argv, "env", "-i", *pairs, str(browser)])
    profile = shlex.quote(f"--user-data-dir={cell.home / 'profile'}")
    return f'#!/bin/sh\nexec {start} "$@" {profile}\n'


def child_environment(cell: Cell, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of the Python child: an allow-list, nothing else passes."""
    added = [each for each in environ.get("PYTHONPATH", "").split(":") if each.startswith("/")]
    path = ":".join(
        [str(PACKAGES), *added]
    )  # a relative entry would be looked up where others write
    python = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    return _inherited(environ) | FIXED | _homes(cell.child_home) | python | DRIVER


def _owned(folder: Path, uid: int | None, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    if uid is not None:
        os.chown(folder, uid, uid)


def _homes(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "TMPDIR": str(home)}


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environ[name] for name in BROWSER_INHERITS if environ.get(name)}
    return {"PATH": DEFAULT_PATH} | kept
