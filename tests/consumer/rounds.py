"""Whole Storybooks captured by fresh processes: what is compared from round to round."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from consumer.isolation import Isolation
from consumer.local.out_folder import open_out
from consumer.local.session import Session, Wanted, Work
from consumer.local.storybook import Storybook
from storyshelf.bundle.index import Story
from storyshelf.bundle.parameters import Viewport
from storyshelf.clock import SystemClock
from tests.consumer.test_supervisor_browser import a_supervisor

TIMEOUT_MS = 60_000
BURNER = "while True: pass"


@dataclass(frozen=True, slots=True)
class Course:
    """How a round is run: in which order, and by how many children at once."""

    seed: int
    children: int

    def order(self, stories: Sequence[Story]) -> tuple[Story, ...]:
        """Return the stories as the seed shuffles them."""
        return tuple(sorted(stories, key=lambda story: self.drawn(story.story_id)))

    def drawn(self, story_id: str) -> bytes:
        """Return what chance says of a story."""
        return sha256(f"{self.seed} {story_id}".encode()).digest()


@dataclass(frozen=True, slots=True)
class Taken:
    """The picture of a story in a mode, or why there is none."""

    fault: str
    png: bytes


async def taken(
    isolation: Isolation, storybook: Storybook, course: Course, folder: Path
) -> Mapping[str, Taken]:
    """Capture every story with children that did nothing before; by the stems of their files."""
    shuffled = replace(storybook, stories=course.order(storybook.stories))
    wanted = Wanted(
        stories=shuffled.stories,
        named=frozenset(),
        viewport=Viewport(1280, 720),
        repeat=1,
        parallel=course.children,
        timeout_ms=TIMEOUT_MS,
    )
    with open_out(folder, folder.with_name("elsewhere")) as out:
        async with a_supervisor(isolation, slots=course.children) as supervisor:
            work = Work(shuffled, wanted, out)
            session = Session(supervisor, work, SystemClock(), lambda session, tally: None)
            await session.run()
        assert session.failure is None, str(session.failure)
        results = [tally.result() for tally in session.tallies if not tally.planned.skipped]
        return {
            f"{result.id} {result.mode}": Taken(
                fault="" if result.error is None else str(result.error),
                png=out.read(result.picture) if result.picture else b"",
            )
            for result in results
        }


@contextmanager
def a_burner_beside() -> Iterator[None]:
    """Keep a core busy meanwhile."""
    with subprocess.Popen([sys.executable, "-c", BURNER]) as burner:
        try:
            yield
        finally:
            burner.kill()
