"""`storyshelf browsers`: which browser captures here, and how to get one."""

import json as json_module
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from storyshelf.cli.printing import print_json
from storyshelf.cli.session import JsonOption
from storyshelf.errors import StoryshelfError
from storyshelf.settings import Settings, read_settings

PACKAGE = "chromium-headless-shell"
LIST_S = 60.0
DOWNLOAD_S = 600.0

app = typer.Typer(
    name="browsers",
    no_args_is_help=True,
    help="List the browsers that captures can be made with, or install one.",
    pretty_exceptions_enable=False,
)


class UnlistedBrowsersError(StoryshelfError):
    """The browsers cannot be listed, most often since the setting names one that is none."""


class NotInstalledError(StoryshelfError):
    """Neither Playwright's download nor the system's package could be had."""

    def __init__(self, tried: Sequence[str]) -> None:
        super().__init__(
            "No browser could be installed",
            where="; ".join(tried),
            next_step="Install Chromium or Google Chrome by your system's own means, or name one "
            "in STORYSHELF_BROWSER_PATH.",
        )


@app.command("list")
def list_browsers(*, json: JsonOption = False) -> None:
    """List every browser found here; the first is the one that captures are made with."""
    found = browsers_here(read_settings())
    if json:
        print_json({"browsers": found})
        return
    none = ["There is no browser here; `storyshelf browsers install` gets one."]
    print("\n".join([_line(one) for one in found] or none))


@app.command()
def install() -> None:
    """Get Playwright's headless shell, else (as root, with apt) the system's package."""
    tried = []
    for argv in _ways():
        print(f"Trying: {' '.join(argv)}", flush=True)
        try:
            done = subprocess.run(argv, check=False, timeout=DOWNLOAD_S)
        except subprocess.TimeoutExpired:
            tried.append(f"{argv[0]} did not end within {DOWNLOAD_S:g} s")
            continue
        if done.returncode == 0:
            list_browsers(json=False)
            return
        tried.append(f"{argv[0]} ended with {done.returncode}")
    raise NotInstalledError(tried)


def browsers_here(settings: Settings) -> Sequence[Mapping[str, Any]]:
    """Have the consumer list them, in a process: the CLI does not know its parts."""
    argv = [*(sys.executable, "-P", "-m", "consumer.browser_list")]
    if settings.browser_path is not None:
        argv += ["--browser", str(settings.browser_path)]
    done = subprocess.run(argv, check=True, capture_output=True, timeout=LIST_S)
    said = json_module.loads(done.stdout)
    if "browsers" not in said:
        what, where, next_step = (said[key] for key in ("what", "where", "next_step"))
        raise UnlistedBrowsersError(what, where=where, next_step=next_step)
    found: Sequence[Mapping[str, Any]] = said["browsers"]
    return found


def _ways() -> Sequence[Sequence[str]]:
    ways: list[Sequence[str]] = [(sys.executable, "-m", "playwright", "install", PACKAGE)]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        ways.append(("apt-get", "install", "-y", PACKAGE))
    return ways


def _line(browser: Mapping[str, Any]) -> str:
    mark = "*" if browser["is_used"] else " "
    return f"{mark} {browser['version']}  {browser['path']}  ({browser['source']})"
