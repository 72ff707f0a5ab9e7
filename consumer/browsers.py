"""Where the browser is: the setting, Playwright's own download, or what the system has."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from storyshelf.errors import StoryshelfError


class BrowserKind(StrEnum):
    """Two builds of one engine whose pictures differ: part of the environment."""

    HEADLESS_SHELL = "headless_shell"
    CHROMIUM = "chromium"


class Sandbox(StrEnum):
    """Chromium's own fence around what it renders: off only where it cannot be had."""

    ON = "on"
    OFF = "off"


class BrowserSource(StrEnum):
    """Who put the browser there."""

    SETTING = "setting"
    PLAYWRIGHT = "playwright"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Browser:
    """An executable to start; it may be a script that starts the real one."""

    path: Path
    kind: BrowserKind
    source: BrowserSource


# The shell first: it costs half the CPU for the same bytes.
SYSTEM_NAMES = (
    ("chromium-headless-shell", BrowserKind.HEADLESS_SHELL),
    ("chrome-headless-shell", BrowserKind.HEADLESS_SHELL),
    ("headless_shell", BrowserKind.HEADLESS_SHELL),
    ("chromium", BrowserKind.CHROMIUM),
    ("chromium-browser", BrowserKind.CHROMIUM),
    ("google-chrome", BrowserKind.CHROMIUM),
    ("google-chrome-stable", BrowserKind.CHROMIUM),
)
# Folder of one revision in Playwright's registry, and the executables it may hold in there.
REGISTRY = (
    (
        "chromium-headless-shell",
        BrowserKind.HEADLESS_SHELL,
        ("chrome-headless-shell-*/chrome-headless-shell", "chrome-*/headless_shell"),
    ),
    (
        "chromium",
        BrowserKind.CHROMIUM,
        ("chrome-*/chrome", "chrome-*/*.app/Contents/MacOS/*"),
    ),
)
WAYS_OUT = (
    "Run `storyshelf browsers install`, or `apt install chromium-headless-shell`, "
    "or set STORYSHELF_BROWSER_PATH to a Chromium."
)


class NoBrowserError(StoryshelfError):
    """There is no browser to capture with."""

    def __init__(self, where: str) -> None:
        super().__init__("no browser was found", where=where, next_step=WAYS_OUT)


class UnusableBrowserError(StoryshelfError):
    """The browser that was named cannot be started."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"the browser cannot be used: {reason}", where=str(path))
        self.next_step = WAYS_OUT


@dataclass(frozen=True, slots=True)
class BrowserSearch:
    """Where to look; every part can be replaced by a test."""

    registry: Path
    revisions: Mapping[str, str]  # Playwright's name of a browser -> the revision it expects
    which: Callable[[str], str | None] = shutil.which


def find_browser(explicit: Path | None, search: BrowserSearch) -> Browser:
    """Return the browser to use; the one that was named or none, never a substitute for it."""
    if explicit is not None:
        return _named(explicit)
    found = next(chain(_downloaded(search), _installed(search)), None)
    if found is None:
        names = ", ".join(name for name, _ in SYSTEM_NAMES)
        raise NoBrowserError(f"looked in {search.registry} and on PATH for {names}")
    return found


def all_browsers(explicit: Path | None, search: BrowserSearch) -> tuple[Browser, ...]:
    """Return every browser that could be used, the one that is first.

    Raises UnusableBrowserError for one that was named and cannot be.
    """
    named = [] if explicit is None else [_named(explicit)]
    found = chain(named, _downloaded(search), _installed(search))
    return tuple({one.path.resolve(): one for one in reversed(list(found))}.values())[::-1]


def system_search(environ: Mapping[str, str]) -> BrowserSearch:
    """Return the places to look in on this machine."""
    return BrowserSearch(_registry_folder(environ), _expected_revisions())


def kind_of(path: Path) -> BrowserKind:
    """Tell the kind by the executable's name: there is no cheaper sign that is as sure."""
    is_shell = path.name.replace("_", "-").endswith("headless-shell")
    return BrowserKind.HEADLESS_SHELL if is_shell else BrowserKind.CHROMIUM


def _named(path: Path) -> Browser:
    found = shutil.which(path)  # a bare name is looked up on PATH, as a shell would
    if found is None:
        reason = "it is not executable" if path.exists() else "it does not exist"
        raise UnusableBrowserError(path, reason)
    absolute = Path(found).absolute()
    return Browser(absolute, kind_of(absolute), BrowserSource.SETTING)


def _downloaded(search: BrowserSearch) -> Iterator[Browser]:
    for name, kind, patterns in REGISTRY:
        folder = search.registry / f"{name.replace('-', '_')}-{search.revisions.get(name, '')}"
        for path in chain.from_iterable(sorted(folder.glob(each)) for each in patterns):
            if os.access(path, os.X_OK):
                yield Browser(path, kind, BrowserSource.PLAYWRIGHT)


def _installed(search: BrowserSearch) -> Iterator[Browser]:
    for name, kind in SYSTEM_NAMES:
        if path := search.which(name):
            yield Browser(Path(path), kind, BrowserSource.SYSTEM)


def _registry_folder(environ: Mapping[str, str]) -> Path:
    chosen = environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if chosen == "0":
        return _driver_package() / ".local-browsers"  # Playwright's word for "beside the driver"
    if chosen:
        return Path(chosen)
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    base = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "/")) / caches)
    return base / "ms-playwright"


def _expected_revisions() -> dict[str, str]:
    listed = json.loads((_driver_package() / "browsers.json").read_text())
    return {each["name"]: each["revision"] for each in listed["browsers"]}


def _driver_package() -> Path:
    spec = find_spec("playwright")  # found, not imported: only the child loads Playwright
    assert spec is not None, "playwright is a dependency of this package"
    assert spec.origin is not None, "playwright is a regular package"
    return Path(spec.origin).parent / "driver" / "package"
