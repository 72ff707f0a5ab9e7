"""Reads what the page says its stories ask for, without believing the shape of any of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from consumer.capture.verdict import plain
from consumer.messages import (
    MAX_STORIES,
    Parameters,
    ParameterValue,
    Scalar,
    StoryParameters,
    StoryWarning,
    Viewport,
    WarningCode,
)
from storyshelf.bundle.index import MAX_ID_BYTES
from storyshelf.bundle.parameters import KEYS
from storyshelf.ids import StoryId

MAX_TEXT = 200
MAX_ITEMS = 50
MAX_FAILED = 40
MAX_FAILED_TEXT = 500  # as the channel allows
MAX_NUMBER = 2**53


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
    return {key: _value(fields[key]) for key in KEYS if fields.get(key) is not None}


def _value(raw: object) -> ParameterValue:
    if isinstance(raw, list):
        return [
            _viewport(each) if isinstance(each, Mapping) else _scalar(each)
            for each in raw[:MAX_ITEMS]
        ]
    return _scalar(raw)


def _viewport(raw: Mapping[object, object]) -> Viewport:
    return {key: _scalar(raw.get(key)) for key in ("width", "height")}


def _scalar(raw: object) -> Scalar:
    if isinstance(raw, str):
        return plain(raw, MAX_TEXT)
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float) and -MAX_NUMBER <= raw <= MAX_NUMBER:
        return raw
    return None


def _items(raw: object) -> list[object]:
    return raw if isinstance(raw, list) else []
