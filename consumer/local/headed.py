"""A browser that can be watched: a full Chromium on a screen, started as if it had none.

The child starts its browser headless, and so does everything that tries it. Here that one switch is
taken away on the way, and the screen is named again, since a browser's environment is its own.
"""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from consumer.browsers import Browser, BrowserKind, BrowserSearch, all_browsers
from consumer.local.refusing import NO_BROWSER, CannotCaptureError

SCREEN = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
ALL_RUN = 0o755
SCRIPT = """#!/bin/sh
# A page that is only printed is for nobody to watch.
for each; do [ "$each" = --dump-dom ] && exec {browser} "$@"; done
for each; do
  shift
  case "$each" in --headless|--headless=*) ;; *) set -- "$@" "$each" ;; esac
done
exec env {screen} {browser} "$@"
"""


class NoWindowError(CannotCaptureError):
    """Nothing here can be watched."""

    exit_code = NO_BROWSER


def find_headed(named: Path | None, search: BrowserSearch, environ: Mapping[str, str]) -> Browser:
    """Return a browser that has windows, on a machine that has a screen; raises NoWindowError."""
    full = [one for one in all_browsers(named, search) if one.kind is BrowserKind.CHROMIUM]
    if not full:
        raise NoWindowError(
            "--headed needs a full Chromium, and there is none: a headless shell has no windows",
            next_step="Install Chromium or Google Chrome, or name one in STORYSHELF_BROWSER_PATH.",
        )
    if sys.platform == "linux" and not any(environ.get(name) for name in SCREEN[:2]):
        raise NoWindowError(
            "--headed needs a screen: neither DISPLAY nor WAYLAND_DISPLAY is set",
            next_step="Run it in a desktop session, or under `xvfb-run`.",
        )
    return full[0]


def with_window(browser: Browser, folder: Path, environ: Mapping[str, str]) -> Browser:
    """Return the browser by a script, written to the folder, that gives it a window."""
    screen = [f"{name}={environ[name]}" for name in SCREEN if environ.get(name)]
    script = folder / "browser-with-window"
    script.write_text(
        SCRIPT.format(browser=shlex.quote(str(browser.path)), screen=shlex.join(screen))
    )
    script.chmod(ALL_RUN)
    return replace(browser, path=script)
