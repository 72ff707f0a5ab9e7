"""A folder as `storybook build` leaves it, with little stories in it."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.consumer.little_storybook import LittleStory, LittleStorybook


def built(
    folder: Path, stories: Mapping[str, LittleStory], titles: Mapping[str, str] | None = None
) -> Path:
    """Write it and return the folder; a story's title is its id if none is given."""
    folder.mkdir()
    titles = titles or {}
    for path, content in LittleStorybook(stories).files_by_path().items():
        (folder / path).write_bytes(content)
    entries = {
        story: {
            "id": story,
            "type": "story",
            "title": titles.get(story, story),
            "name": "Default",
            "importPath": "./little.stories.js",
        }
        for story in stories
    }
    (folder / "index.json").write_text(json.dumps({"v": 5, "entries": entries}))
    return folder
