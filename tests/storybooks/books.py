"""Storybooks of other versions and frameworks: one small set of stories, built by npm for each.

A book is put together from three folders of `frameworks`: `common` holds the stories and the
configuration, `parts` what a framework draws them with, `versions` the packages, pinned by a lock
of their own and shared by all books of that version. The packages are installed once, and the books
built, below `.setup/storybooks`. `python -m tests.storybooks.books` builds them all.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tests.storybook_builds import (
    CACHE,
    REPOSITORY,
    SWITCH_PREFIX,
    StorybookBuildError,
    one_at_a_time,
    quiet_environment,
)

FRAMEWORKS = REPOSITORY / "tests" / "storybooks" / "frameworks"
INSTALL_DEADLINE_S = 600  # the largest set took one minute
BUILD_DEADLINE_S = 300  # the slowest, of webpack, takes half a minute alone
STORYBOOK = ("npx", "--no-install", "storybook", "build", "--disable-telemetry", "--quiet")
SWC = "@storybook/addon-webpack5-compiler-swc"


@dataclass(frozen=True, slots=True)
class Book:
    """One build: its version's packages, its framework's parts, and what is switched on."""

    name: str
    version: str
    parts: str
    framework: str
    switches: Mapping[str, str] = field(default_factory=dict)

    def digest(self) -> str:
        """What went in, as 16 hex digits; equal digests mean equal builds."""
        said = [self.name, self.framework, *sorted(f"{k}={v}" for k, v in self.switches.items())]
        return _digest(said, self._layers())

    def packages(self) -> Path:
        """The folder in which the version's packages are installed, or will be."""
        folder = FRAMEWORKS / "versions" / self.version
        files = [folder / "package.json", folder / "package-lock.json"]
        state = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        return CACHE / f"packages-{self.version}-{state}"

    def lay(self, folder: Path) -> None:
        """Put the book's sources together, the later folders over the earlier ones."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(FRAMEWORKS / "common", folder)
        shutil.copytree(FRAMEWORKS / "parts" / self.parts, folder / "stories", dirs_exist_ok=True)
        tools = FRAMEWORKS / "versions" / self.version / "tools.js"
        shutil.copy(tools, folder / "stories" / tools.name)

    def environment(self) -> dict[str, str]:
        """This process's environment, with only the book's switches."""
        switches = {"FRAMEWORK": self.framework, **self.switches}
        return quiet_environment() | {SWITCH_PREFIX + k: v for k, v in switches.items()}

    def _layers(self) -> list[Path]:
        return [
            FRAMEWORKS / "common",
            FRAMEWORKS / "parts" / self.parts,
            FRAMEWORKS / "versions" / self.version,
        ]


def _of(version: str, *frameworks: str) -> list[Book]:
    return [
        Book(f"{version}-{parts}", version, parts, f"@storybook/{package}-vite", {"DOCS": "1"})
        for parts in frameworks
        for package in ["vue3" if parts == "vue" else parts]
    ]


EVERY = ("react", "vue", "svelte", "web-components", "html")
SMALL = Book("8-small", "8-small", "web-components", "@storybook/web-components-vite")
WEBPACK = [
    Book("8-webpack", "8", "react", "@storybook/react-webpack5", {"DOCS": "1", "COMPILER": SWC}),
    Book("7-webpack", "7", "react", "@storybook/react-webpack5", {"DOCS": "1"}),
]
LARGE = [*_of("9", *EVERY), *_of("8", *EVERY), *_of("7", *EVERY), *WEBPACK]
BOOKS = {book.name: book for book in [SMALL, *LARGE]}


def build_book(book: Book) -> Path:
    """The folder of the book, built on first use; safe for any number of processes at once."""
    built = CACHE / f"{book.name}-{book.digest()}"
    if not built.is_dir():
        with one_at_a_time(CACHE):
            if not built.is_dir():
                _install(book)
                _build(book, built)
    return built


def _install(book: Book) -> None:
    packages = book.packages()
    if packages.is_dir():
        return
    unfinished = packages.with_name(f"{packages.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FRAMEWORKS / "versions" / book.version / name, unfinished / name)
    quietly = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run(("npm", "ci", *quietly), unfinished, quiet_environment(), INSTALL_DEADLINE_S)
    unfinished.rename(packages)


def _build(book: Book, built: Path) -> None:
    packages = book.packages()
    sources = packages / "books" / book.name
    book.lay(sources)
    unfinished = built.with_name(f"{built.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    to = ("--config-dir", str(sources / ".storybook"), "--output-dir", str(unfinished))
    _run((*STORYBOOK, *to), packages, book.environment(), BUILD_DEADLINE_S)
    unfinished.rename(built)


def _run(command: tuple[str, ...], folder: Path, environment: dict[str, str], limit_s: int) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=limit_s,
        check=False,
    )
    if done.returncode != 0:
        raise StorybookBuildError(" ".join(command), done.stdout)


def _digest(said: list[str], folders: list[Path]) -> str:
    state = sha256("\0".join(said).encode())
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            state.update(f"\0{file.relative_to(FRAMEWORKS)}\0".encode())
            state.update(sha256(file.read_bytes()).digest())
    return state.hexdigest()[:16]


def main() -> None:
    """Build the named books, or all, and say where each lies."""
    for name in sys.argv[1:] or BOOKS:
        print(build_book(BOOKS[name]), flush=True)  # noqa: T201  # a command's answer


if __name__ == "__main__":
    main()
