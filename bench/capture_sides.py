"""Runs each side of the capture bench once and says what it took.

All shoot the same stories with the same browser binary in a window of 1280 x 720. The peers read
the Storybook from one web server, a process of its own whose time counts for nobody; ours serves it
itself, and that counts.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from bench.capture_books import Book
from bench.capture_meter import Meter, Reading
from bench.plain_playwright import served
from storyshelf.errors import StoryshelfError
from tests.storybook_builds import REPOSITORY

SHOWN_CHARS = 2_000  # of what a side wrote, from its end
FEWEST = 0.98  # of the stories: a peer may trip over one, which is told beside its figures


class SideFailedError(StoryshelfError):
    """A side did not take the pictures, so it has no figures."""

    def __init__(self, side: str, why: str) -> None:
        super().__init__(f"{side} did not shoot the stories", where=why[-SHOWN_CHARS:].strip())


@dataclass(frozen=True, slots=True)
class SideRun:
    """One side, once: `ms` are its steps over all stories, where it tells them."""

    stories: int
    pictures: int
    wall_s: float
    cpu_s: float
    peak_bytes: int
    ms: Mapping[str, float] = field(default_factory=dict)

    def readings(self) -> dict[str, float]:
        """Return the measures that ratios are made of; all are of pictures that were taken."""
        return {
            "stories_per_s": self.pictures / self.wall_s,
            "stories_per_cpu_s": self.pictures / self.cpu_s,
            "cpu_s_per_story": self.cpu_s / self.pictures,
            "wall_s": self.wall_s,
            "peak_mb": self.peak_bytes / 2**20,
            "pictures": float(self.pictures),
        }


@dataclass(frozen=True, slots=True)
class Scene:
    """What all sides are given."""

    book: Book
    browser: Path
    peers: Path
    slots: int
    baselines: Mapping[str, str] = field(default_factory=dict)  # pictures' hashes by story


def ours(scene: Scene, mode: str) -> SideRun:
    """Capture with the product's children in that mode, from cold children to the last picture."""
    return _ours(scene, mode)[0]


def with_baselines(scene: Scene) -> Scene:
    """Return the scene after a build of before, which is not measured."""
    return replace(scene, baselines=_ours(scene, "strict")[1])


def _ours(scene: Scene, mode: str) -> tuple[SideRun, Mapping[str, str]]:
    """Return the run, and the hash of each story's picture."""
    command = [sys.executable, "-m", "bench.capture_ours"]
    with (
        TemporaryDirectory(prefix="storyshelf-bench-") as pictures,
        (Path(pictures) / "log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        _write(process.stdin, _order(scene, mode, pictures))
        if "ready" not in process.stdout.readline():
            raise SideFailedError("ours", Path(log.name).read_text())
        meter = Meter(process.pid)
        _write(process.stdin, {"go": mode})
        line = process.stdout.readline()
        took = meter.stop(process)
        if not line:
            raise SideFailedError("ours", Path(log.name).read_text())
        hashes = dict(path.stem.partition("-")[::-2] for path in Path(pictures).glob("*.png"))
        return _ours_from(scene, json.loads(line), took, Path(pictures)), hashes


def _order(scene: Scene, mode: str, pictures: str) -> Mapping[str, Any]:
    return {
        "bundle": str(scene.book.folder),
        "stories": list(scene.book.stories),
        "mode": mode,
        "slots": scene.slots,
        "pictures": pictures,
        "baselines": dict(scene.baselines) if mode == "shared" else {},
    }


def _ours_from(scene: Scene, said: Mapping[str, Any], took: Reading, pictures: Path) -> SideRun:
    if said["bad"]:
        print(f"  ours, no good picture: {'; '.join(said['bad'])}", flush=True)
    if said["switched"]:
        print(f"  ours, in a page shared with others: {said['switched']} stories", flush=True)
    taken = len(list(pictures.glob("*.png"))) - len(said["bad"])
    return _checked("ours", scene, SideRun(
        len(scene.book.stories), taken, said["wall_s"], took.cpu_s, took.peak_bytes, said["ms"],
    ))  # fmt: skip


def storycap(scene: Scene) -> SideRun:
    """Run its command, which waits for layout metrics to stand still, with as many tabs as cores.

    Its addon is not in the Storybook, as it knows none after 8; it works without.
    """
    command = [
        str(scene.peers / "node_modules" / ".bin" / "storycap"),
        "--viewport",
        "1280x720",
        "--parallel",
        str(scene.slots),
        "--chromiumPath",
        str(scene.browser),
    ]
    with served(scene.book.folder) as origin:
        return _peer("storycap", scene, lambda pictures: [*command, "--outDir", pictures, origin])


def test_runner(scene: Scene) -> SideRun:
    """Run its command on the built Storybook, with `page.screenshot` after each story."""
    command = [
        str(scene.peers / "node_modules" / ".bin" / "test-storybook"),
        "--index-json",
        "--config-dir",
        "test_runner",
        "--maxWorkers",
        str(scene.slots),
    ]
    with served(scene.book.folder) as origin:
        return _peer("test_runner", scene, lambda _: [*command, "--url", origin])


def _peer(side: str, scene: Scene, command: Callable[[str], Sequence[str]]) -> SideRun:
    """Run a peer from its start to its end; the command is made with the folder of pictures."""
    with TemporaryDirectory(prefix="storyshelf-bench-") as temporary:
        pictures, log = Path(temporary) / "pictures", Path(temporary) / "log"
        pictures.mkdir()
        told = {
            "BENCH_BROWSER": str(scene.browser),
            "BENCH_PICTURES": str(pictures),
            "STORYBOOK_DISABLE_TELEMETRY": "1",
        }
        began = time.monotonic()
        with log.open("w") as out:
            process = subprocess.Popen(
                command(str(pictures)),
                cwd=scene.peers,
                env=os.environ | told,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
            )
            took = Meter(process.pid).stop(process)
        wall_s = time.monotonic() - began
        taken = len(list(pictures.rglob("*.png")))
        run = SideRun(len(scene.book.stories), taken, wall_s, took.cpu_s, took.peak_bytes)
        return _checked(side, scene, run, log.read_text(errors="replace"))


def _checked(side: str, scene: Scene, run: SideRun, said: str = "") -> SideRun:
    wanted = len(scene.book.stories)
    if run.pictures < FEWEST * wanted:
        raise SideFailedError(side, f"{run.pictures} pictures of {wanted} stories\n{said}")
    return run


def _write(to: IO[str], said: Mapping[str, Any]) -> None:
    to.write(json.dumps(said) + "\n")
    to.flush()
