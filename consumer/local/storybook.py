"""The Storybook to capture: a folder that `storybook build` wrote, or what to run instead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from consumer.local.refusing import CannotCaptureError
from storyshelf.bundle.index import FRAME_NAME, INDEX_NAMES, Story, find_index, parse_index
from storyshelf.bundle.paths import shown
from storyshelf.client.hashing import HashedFolder, hash_folder

BUILT = "storybook-static"  # where `storybook build` writes to if nobody says otherwise
SHOWN_IDS = 3


class NoStorybookError(CannotCaptureError):
    """The folder is no built Storybook."""

    def __init__(self, folder: Path) -> None:
        what, next_step = _what_to_run(folder)
        super().__init__(what, where=str(folder), next_step=next_step)


class NoSuchStoryError(CannotCaptureError):
    """No story is called so."""

    def __init__(self, pattern: str, ids: Sequence[str]) -> None:
        close = get_close_matches(pattern, ids, SHOWN_IDS, cutoff=0.3) or list(ids[:SHOWN_IDS])
        super().__init__(
            f"No story matches {shown(pattern)}",
            where=f"{len(ids)} stories, such as {', '.join(map(shown, close))}",
            next_step="Give an id, or a pattern for ids or for Title/Name, such as 'button--*'.",
        )


@dataclass(frozen=True, slots=True)
class Storybook:
    """What is to be captured; `warnings` are about the list of stories."""

    hashed: HashedFolder
    stories: tuple[Story, ...]
    warnings: tuple[str, ...]


def read_storybook(folder: Path, hashed: Callable[[int, int], None]) -> Storybook:
    """Read the folder; raises NoStorybookError, and what an upload of it would be refused for."""
    if not _is_built(folder):
        raise NoStorybookError(folder)
    content = hash_folder(folder, hashed)
    file = find_index(content.manifest)
    index = parse_index(content.sources[file.sha256].read_bytes(), file.path)
    return Storybook(content, index.stories, index.warnings)


def choose(stories: Sequence[Story], patterns: Sequence[str]) -> tuple[Story, ...]:
    """Return the stories that any pattern matches, all for none; raises NoSuchStoryError."""
    for pattern in patterns:
        if not any(_matches(story, pattern) for story in stories):
            raise NoSuchStoryError(pattern, [story.story_id for story in stories])
    return tuple(
        story
        for story in stories
        if not patterns or any(_matches(story, pattern) for pattern in patterns)
    )


def _matches(story: Story, pattern: str) -> bool:
    named = f"{story.title}/{story.name}"
    return story.story_id == pattern or any(
        fnmatchcase(text, pattern) for text in (story.story_id, named)
    )


def _is_built(folder: Path) -> bool:
    has_index = any((folder / name).is_file() for name in INDEX_NAMES)
    return has_index and (folder / FRAME_NAME).is_file()


def _what_to_run(folder: Path) -> tuple[str, str]:
    if not folder.exists():
        return "There is no such folder", f"Run `npx storybook build`, then name {BUILT}."
    if not folder.is_dir():
        return "This is not a folder", "Name the folder that `npx storybook build` wrote."
    if _is_built(folder / BUILT):
        found = "This is not the built Storybook, but the folder it is in"
        return found, f"Run `storyshelf capture {folder / BUILT}`."
    if (folder / ".storybook").is_dir() or (folder / "package.json").is_file():
        return (
            "This is the source of a Storybook, not a built one",
            f"Run `npx storybook build` in it, then `storyshelf capture {folder / BUILT}`.",
        )
    return (
        f"This is no built Storybook: it holds no {FRAME_NAME} with {' or '.join(INDEX_NAMES)}",
        f"Run `npx storybook build` and name the folder it writes, usually {BUILT}.",
    )
