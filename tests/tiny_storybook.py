"""A built Storybook in three files, written in a millisecond: for many stories, or for odd ones.

It speaks the part of Storybook 10's runtime that a capture depends on: the channel and its events
in their order, `extract` and `loadStory`, the classes of the body, selection by address and by
`setCurrentStory`. What it claims is checked against a real build in `test_tiny_storybook.py`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("tiny_storybook.html")


class IndexVersion(IntEnum):
    V4 = 4
    V5 = 5


@dataclass(frozen=True, slots=True)
class TinyStory:
    """A story: its markup, and JavaScript bodies that run as its render and its play function.

    Both may `await`, may throw, and know the root as `canvasElement`.
    """

    html: str = "<p>a story</p>"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    script: str = ""
    play: str = ""
    tags: tuple[str, ...] = ()


def write_tiny_storybook(
    folder: Path, stories: Mapping[str, TinyStory], version: IndexVersion = IndexVersion.V5
) -> Path:
    """Write `index.json`, `iframe.html` and `stories.js` into `folder`, and hand it back."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = {story_id: _entry(story_id, story, version) for story_id, story in stories.items()}
    (folder / "index.json").write_text(json.dumps({"v": int(version), "entries": entries}))
    (folder / "iframe.html").write_text(PAGE.read_text())
    bodies = {story_id: asdict(story) for story_id, story in stories.items()}
    (folder / "stories.js").write_text(f"const STORIES = {json.dumps(bodies)};\n")
    return folder


def many_stories(count: int) -> dict[str, TinyStory]:
    """`count` stories that all look different, ten to a component."""
    return {
        f"many-{number // 10}--story-{number}": TinyStory(
            f'<div style="width:{80 + number % 97}px;height:40px;'
            f'background:hsl({number * 37 % 360} 60% 50%)">{number}</div>'
        )
        for number in range(count)
    }


def _entry(story_id: str, story: TinyStory, version: IndexVersion) -> dict[str, Any]:
    component, _, name = story_id.partition("--")
    kinds = ["story"] if version is IndexVersion.V4 else ["dev", "test"]
    return {
        "type": "story",
        "id": story_id,
        "name": name.replace("-", " ").title(),
        "title": component,
        "importPath": f"./{component}.stories.js",
        "tags": [*kinds, *(["play-fn"] if story.play else []), *story.tags],
    }
