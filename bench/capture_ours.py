"""Our side of the capture bench, a process of its own: the consumer's supervisor and its children.

It says `ready` once it knows how this machine isolates browsers, which a consumer finds out once in
its life; what it does after the line that it then reads is measured. As a consumer does, it starts
a child a slot, lays the bundle for each, asks for one story after the other, checks nothing in the
child's place, hashes each picture and stores it. In the mode `shared` a story has a baseline, as in
every build but the first; where its picture is another one, the child loads the story as well.
"""

import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import structlog

from consumer.browsers import find_browser, system_search
from consumer.isolation import Ground, Isolation, choose_isolation
from consumer.messages import BundledFile, Captured, Ending, Page
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import Bundle, CaptureRequest, Child, Limits, Supervisor
from storyshelf.clock import SystemClock
from storyshelf.ids import BlobKey, ProjectId, StoryId

PROJECT = ProjectId(1)
TIMEOUT_MS = 60_000
WIDTH_PX, HEIGHT_PX = 1280, 720
# How the product may render, by the names that its settings and the bench's keys have.
MODES: Mapping[str, Page] = {"strict": Page.SHARED, "shared": Page.SWITCHED}
# A context a story: for what is shot again or traced, not for all.
UNMEASURED = frozenset({Page.FRESH, Page.TRACED})


@dataclass(slots=True)
class Laps:
    """Milliseconds by step, over all stories; and the stories that gave no good picture."""

    ms: dict[str, float] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    switched: int = 0  # stories whose picture is of a page that showed others before

    def add(self, step: str, ms: float) -> None:
        """Count it."""
        self.ms[step] = self.ms.get(step, 0.0) + ms


@dataclass(frozen=True, slots=True)
class Files:
    """The bundle's files by key, and where the pictures go."""

    of_key: Mapping[BlobKey, Path]
    listed: tuple[BundledFile, ...]
    pictures: Path
    baselines: Mapping[str, BlobKey] = field(default_factory=dict)  # of each story, for `shared`


def components(stories: Sequence[str]) -> deque[list[str]]:
    """Return the stories by component, the largest first: what shares a file stays together."""
    groups: dict[str, list[str]] = {}
    for story in stories:
        groups.setdefault(story.partition("--")[0], []).append(story)
    return deque(sorted(groups.values(), key=len, reverse=True))


def read_files(bundle: Path, pictures: Path, baselines: Mapping[str, BlobKey]) -> Files:
    """Hash the bundle, as its upload did long before a capture."""
    listed = tuple(
        BundledFile(str(path.relative_to(bundle)), BlobKey(sha256(path.read_bytes()).hexdigest()))
        for path in sorted(bundle.rglob("*"))
        if path.is_file()
    )
    return Files({each.key: bundle / each.path for each in listed}, listed, pictures, baselines)


async def shoot_all(
    isolation: Isolation, files: Files, stories: Sequence[str], page: Page, slots: int
) -> Laps:
    """Capture all stories in so many children; the laps are those of all children together."""
    laps, left = Laps(), components(stories)
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, SystemClock(), isolation, Limits(slots=slots))
        try:
            async with asyncio.TaskGroup() as working:
                for _ in range(slots):
                    working.create_task(_work(supervisor, files, left, page, laps))
        finally:
            await supervisor.close()
    return laps


async def _work(
    supervisor: Supervisor, files: Files, left: deque[list[str]], page: Page, laps: Laps
) -> None:
    began = time.monotonic()
    async with AsyncExitStack() as lent:
        child = await lent.enter_async_context(supervisor.child(PROJECT))
        await asyncio.to_thread(_lay, child, files)
        await child.open(Bundle("b1.localhost", child.cell.bundle, files.listed))
        laps.add("child", _ms_since(began))
        while left:
            for story in left.popleft():
                await _shoot(child, story, files, page, laps)


def _lay(child: Child, files: Files) -> None:
    for key, source in files.of_key.items():
        laid = child.cell.bundle / key
        laid.write_bytes(source.read_bytes())
        laid.chmod(0o644)


async def _shoot(child: Child, story: str, files: Files, page: Page, laps: Laps) -> None:
    asked = CaptureRequest(
        story_id=StoryId(story),
        viewport_width_px=WIDTH_PX,
        viewport_height_px=HEIGHT_PX,
        scale=1.0,
        delay_ms=0,
        page=page,
        timeout_ms=TIMEOUT_MS,
        baseline=files.baselines.get(story),
    )
    began = time.monotonic()
    captured = await child.capture(asked, lambda: None)
    answered = time.monotonic()
    for step, ms in captured.timings_ms.items():
        laps.add(step, ms)
    laps.add("between", _ms_since(began, answered) - sum(captured.timings_ms.values()))
    key = sha256(captured.png).hexdigest()
    hashed = time.monotonic()
    laps.add("hash", _ms_since(answered, hashed))
    await asyncio.to_thread((files.pictures / f"{key}-{story}.png").write_bytes, captured.png)
    laps.add("store", _ms_since(hashed))
    laps.switched += captured.page is Page.SWITCHED
    _judge(captured, laps)


def _judge(captured: Captured, laps: Laps) -> None:
    if captured.ending is not Ending.OK or not captured.png:
        error = captured.error.message if captured.error else "no picture"
        laps.bad.append(f"{captured.story_id}: {error}")


def _ms_since(began: float, ended: float | None = None) -> float:
    return 1000 * ((time.monotonic() if ended is None else ended) - began)


async def run(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Make ready, wait for the word, shoot; return what is answered."""
    with open_scratch(Path(gettempdir())) as scratch:
        browser = find_browser(None, system_search(os.environ))
        ground = Ground(browser, scratch, SlotUids(locks_folder()), os.environ)
        isolation = await choose_isolation(ground)
        baselines = {story: BlobKey(key) for story, key in asked["baselines"].items()}
        files = read_files(Path(asked["bundle"]), Path(asked["pictures"]), baselines)
        _say({"ready": isolation.describe()})
        sys.stdin.readline()
        began = time.monotonic()
        page = MODES[asked["mode"]]
        laps = await shoot_all(isolation, files, asked["stories"], page, asked["slots"])
        return {"wall_s": time.monotonic() - began, "ms": laps.ms, "bad": laps.bad,
                "switched": laps.switched}  # fmt: skip


def _say(said: Mapping[str, Any]) -> None:
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    _say(asyncio.run(run(json.loads(sys.stdin.readline()))))
