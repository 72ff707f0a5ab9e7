"""The real Storybooks tests run against, built by npm once and kept under `.setup/storybooks`.

`python -m tests.storybook_builds` builds them all, so that no test has to wait for one. A build's
folder is named after what went into it, hence never stale and never to be written to:
`hazards_against` hands out a copy where a test has to change a file.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from storyshelf.errors import StoryshelfError

REPOSITORY = Path(__file__).resolve().parents[1]
CACHE = REPOSITORY / ".setup" / "storybooks"
SWITCH_PREFIX = "STORYBOOK_SHELF_"
BUILD_DEADLINE_S = 240  # a cold build takes 4 s alone, ten times that on a crowded machine
SHOWN_LINES = 60  # of npm's output, from its end: bundlers put the cause last


class Look(StrEnum):
    """How the example is built; the differences are those its welcome page lists."""

    CURRENT = "current"
    NEXT = "next"
    NEXT_BROKEN = "next-broken"
    PIXEL = "pixel"


class Hazards(StrEnum):
    LOADABLE = "hazards"
    UNLOADABLE = "hazards-unloadable"


SWITCHES: Mapping[Look | Hazards, Mapping[str, str]] = {
    Look.CURRENT: {},
    Look.NEXT: {"LOOK": "next"},
    Look.NEXT_BROKEN: {"LOOK": "next", "BROKEN": "1"},
    Look.PIXEL: {"PIXEL": "1"},
    Hazards.LOADABLE: {},
    Hazards.UNLOADABLE: {"UNLOADABLE": "1"},
}


class StorybookBuildError(StoryshelfError):
    """npm could not build one of the Storybooks the tests need."""

    def __init__(self, command: str, output: str) -> None:
        last = "\n".join(output.splitlines()[-SHOWN_LINES:])
        super().__init__(
            f"`{command}` failed:\n{last}\n",
            where=str(REPOSITORY),
            next_step="Run `make setup` if a package is missing",
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """One build: its name, the npm script, the folder of its sources, and what is switched on."""

    name: str
    script: str
    sources: Path
    switches: Mapping[str, str]
    repository: Path = REPOSITORY

    def digest(self) -> str:
        """What went in, as 16 hex digits; equal digests mean equal builds."""
        state = hashlib.sha256(json.dumps(dict(self.switches), sort_keys=True).encode())
        for file in self._files():
            state.update(f"\0{file.relative_to(self.repository)}\0".encode())
            state.update(hashlib.sha256(file.read_bytes()).digest())
        return state.hexdigest()[:16]

    def _files(self) -> list[Path]:
        sources = (path for path in self.sources.rglob("*") if path.is_file())
        own = [path for path in sources if "storybook-static" not in str(path)]
        return [*sorted(own), *(self.repository / f"package{end}.json" for end in ("", "-lock"))]

    def environment(self) -> dict[str, str]:
        """This process's environment, with only the recipe's switches, and nobody called home."""
        return quiet_environment() | {SWITCH_PREFIX + k: v for k, v in self.switches.items()}


def quiet_environment() -> dict[str, str]:
    """This process's environment without any recipe's switches; nobody is called home."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(SWITCH_PREFIX)}
    quiet = {"STORYBOOK_DISABLE_TELEMETRY": "1", "CI": "1", "NO_UPDATE_NOTIFIER": "1"}
    return inherited | quiet


def build_example(look: Look = Look.CURRENT) -> Path:
    """The folder of the example Storybook, built on first use."""
    sources = REPOSITORY / "examples" / "storybook"
    return build(Recipe(f"example-{look}", "storybook:example", sources, SWITCHES[look]), CACHE)


def build_bench() -> Path:
    """The folder of the Storybook that benches shoot, built on first use."""
    return build(Recipe("bench", "storybook:bench", REPOSITORY / "bench" / "storybook", {}), CACHE)


def build_examined() -> Path:
    """The folder of the Storybook with the accessibility addon, built on first use."""
    sources = REPOSITORY / "tests" / "storybooks" / "examined"
    return build(Recipe("examined", "storybook:examined", sources, {}), CACHE)


def build_hazards(hazards: Hazards = Hazards.LOADABLE) -> Path:
    """The folder of the Storybook of hazards, built on first use."""
    sources = REPOSITORY / "tests" / "storybooks" / "hazards"
    return build(Recipe(str(hazards), "storybook:hazards", sources, SWITCHES[hazards]), CACHE)


def hazards_against(port: int, folder: Path) -> Path:
    """A copy in `folder` of the hazards, whose fence story tries to reach this loopback port."""
    copy = shutil.copytree(build_hazards(), folder / "hazards")
    (copy / "fence.json").write_text(json.dumps({"host": "127.0.0.1", "port": port}))
    return copy


def build(recipe: Recipe, cache: Path) -> Path:
    """The built folder, from the cache or made now; safe for any number of processes at once."""
    built = cache / f"{recipe.name}-{recipe.digest()}"
    if not built.is_dir():
        with one_at_a_time(cache):
            if not built.is_dir():
                _run_npm(recipe, built)
    return built


@contextmanager
def one_at_a_time(cache: Path) -> Iterator[None]:
    """Let no other build run meanwhile: they share a cache, and one of them fills two cores."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run_npm(recipe: Recipe, built: Path) -> None:
    unfinished = built.with_name(f"{built.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        done = subprocess.run(
            ["npm", "run", recipe.script, "--", "--output-dir", str(unfinished)],
            cwd=recipe.repository,
            env=recipe.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=BUILD_DEADLINE_S,
            check=False,
        )
    except FileNotFoundError as missing:
        raise StorybookBuildError(f"npm run {recipe.script}", "npm is not installed") from missing
    if done.returncode != 0 or not (unfinished / "index.json").is_file():
        raise StorybookBuildError(f"npm run {recipe.script}", done.stdout)
    unfinished.rename(built)


def main() -> None:
    """Build everything that is not built yet, and say where it lies."""
    folders = [build_example(look) for look in Look] + [build_hazards(which) for which in Hazards]
    print(*folders, build_bench(), build_examined(), sep="\n")  # noqa: T201  # a command's answer


if __name__ == "__main__":
    main()
