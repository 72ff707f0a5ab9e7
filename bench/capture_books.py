"""The Storybooks that captures are measured on: our own fixture, and any that is named besides."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.plain_playwright import stories_of
from bench.report import Length
from storyshelf.errors import StoryshelfError
from tests.storybook_builds import build_bench

BESIDES = "BENCH_STORYBOOKS"  # folders of built Storybooks, with a colon between
MOST_STORIES = {Length.QUICK: 20, Length.FULL: 80}  # of one Storybook


class NoStorybookError(StoryshelfError):
    """A folder was named that holds no built Storybook."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "There is no built Storybook",
            where=f"{folder}, named by {BESIDES}",
            next_step="Name the folder that `storybook build` wrote: it holds an index.json.",
        )


@dataclass(frozen=True, slots=True)
class Book:
    """A built Storybook, cut to the stories that are shot."""

    name: str
    folder: Path
    stories: Sequence[str]


@contextmanager
def books(length: Length) -> Iterator[Sequence[Book]]:
    """Build our own and cut all to the length; the first is ours. Raises NoStorybookError."""
    besides = [Path(each) for each in os.environ.get(BESIDES, "").split(":") if each]
    for folder in besides:
        if not (folder / "index.json").is_file():
            raise NoStorybookError(folder)
    with TemporaryDirectory(prefix="storyshelf-bench-books-") as temporary:
        most = MOST_STORIES[length]
        sources = [("ours", build_bench()), *((each.name, each) for each in besides)]
        yield [cut(name, source, Path(temporary) / name, most) for name, source in sources]


def cut(name: str, source: Path, folder: Path, most: int) -> Book:
    """Return a copy of the Storybook that lists `most` stories at most, spread over all of it.

    Whoever shoots it reads the same index, so the cut is everybody's.
    """
    chosen = spread(stories_of(source), most)
    shutil.copytree(source, folder)
    index: dict[str, Any] = json.loads((source / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps({**index, "entries": _kept(index, chosen)}))
    return Book(name, folder, chosen)


def _kept(index: Mapping[str, Any], chosen: Sequence[str]) -> dict[str, Any]:
    entries: Mapping[str, Any] = index["entries"]
    return {story: entries[story] for story in chosen}


def spread(stories: Sequence[str], most: int) -> Sequence[str]:
    """Return `most` of them at equal distances, or all."""
    if len(stories) <= most:
        return list(stories)
    return [stories[number * len(stories) // most] for number in range(most)]
