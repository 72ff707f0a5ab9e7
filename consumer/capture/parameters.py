"""Reads what the page says its stories ask for, without believing the shape of any of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from consumer.capture.verdict import plain
from consumer.messages import MAX_STORIES, StoryParameters, StoryWarning, WarningCode
from consumer.parameter_values import (
    MAX_FIELDS,
    MAX_ITEMS,
    MAX_LABEL,
    MAX_NUMBER,
    MAX_TEXT,
    Parameters,
    Value,
)
from storyshelf.bundle.index import MAX_ID_BYTES
from storyshelf.bundle.known_keys import KEYS
from storyshelf.ids import StoryId

MAX_DEPTH = 4  # objects in each other: modes, a mode, its args, a style
MAX_OF_A_STORY = 8_000  # bytes as JSON; five modes take 500
MAX_FAILED = 40
MAX_FAILED_TEXT = 500  # as the channel allows


@dataclass(frozen=True, slots=True)
class ReadParameters:
    """What every story asks for, and which files of stories did not load."""

    stories: tuple[StoryParameters, ...]
    failed: tuple[StoryWarning, ...]


def read_parameters(raw: object) -> ReadParameters:
    """Read the page's answer; what is not of the agreed shape is left out."""
    fields = raw if isinstance(raw, Mapping) else {}
    stories = [_story(each) for each in _items(fields.get("stories"))[:MAX_STORIES]]
    failed = [plain(each, MAX_FAILED_TEXT) for each in _items(fields.get("failed"))[:MAX_FAILED]]
    return ReadParameters(
        stories=tuple(story for story in stories if story is not None),
        failed=tuple(StoryWarning(WarningCode.UNREADABLE_FILE, text) for text in failed),
    )


def _story(raw: object) -> StoryParameters | None:
    fields = raw if isinstance(raw, Mapping) else {}
    story_id = plain(fields.get("story_id"), MAX_ID_BYTES)
    if not story_id:
        return None
    storyshelf, chromatic = _known(fields.get("storyshelf")), _known(fields.get("chromatic"))
    return StoryParameters(StoryId(story_id), storyshelf, chromatic)


def _known(raw: object) -> Parameters:
    fields = raw if isinstance(raw, Mapping) else {}
    read = {key: _value(fields[key]) for key in KEYS if fields.get(key) is not None}
    if len(json.dumps(read)) > MAX_OF_A_STORY and "modes" in read:
        return read | {"modes": "[more than can be read]"}  # a text, which is told to its author
    return read


def _value(raw: object, depth: int = MAX_DEPTH) -> Value:
    """Read a value as deep as a mode's globals and args may be; what is deeper is left out."""
    if depth > 0 and isinstance(raw, list):
        return [_value(each, min(depth - 1, 1)) for each in raw[:MAX_ITEMS]]
    if depth > 0 and isinstance(raw, Mapping):
        return _fields(raw, depth)
    return _scalar(raw)


def _fields(raw: Mapping[object, object], depth: int) -> dict[str, Value]:
    named = {plain(name, MAX_LABEL + 1): value for name, value in raw.items()}
    fits = [(name, value) for name, value in named.items() if 0 < len(name) <= MAX_LABEL]
    return {name: _value(value, depth - 1) for name, value in fits[:MAX_FIELDS]}


def _scalar(raw: object) -> Value:
    if isinstance(raw, str):
        return plain(raw, MAX_TEXT)
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float) and -MAX_NUMBER <= raw <= MAX_NUMBER:
        return raw
    return None


def _items(raw: object) -> list[object]:
    return raw if isinstance(raw, list) else []
