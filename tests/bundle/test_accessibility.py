"""What a story asks of its accessibility, in our word and in Storybook's own parameter."""

import json
from typing import Any

import pytest

from storyshelf.bundle.accessibility import MAX_CHECKS, Accessibility, AccessibilityWish
from storyshelf.bundle.parameters import parse_parameters

OFF, ADDON, RECORD, BLOCK = Accessibility


def wish(ours: Any = None, storybooks: Any = None) -> AccessibilityWish:
    read = parse_parameters({"accessibility": ours}, {"accessibility": storybooks})
    assert read.warnings == ()
    return read.parameters.accessibility


@pytest.mark.parametrize(
    ("ours", "storybooks", "levels"),
    [
        (None, None, [OFF, ADDON, RECORD, BLOCK]),
        ("off", {"test": "error"}, [OFF] * 4),
        ("block", {"disable": True}, [BLOCK] * 4),
        (None, {"disable": True}, [OFF] * 4),
        (None, {"test": "off"}, [OFF] * 4),
        (None, {"test": "todo"}, [OFF, ADDON, RECORD, BLOCK]),
        (None, {"test": "error"}, [OFF, ADDON, BLOCK, BLOCK]),
        (None, "odd", [OFF, ADDON, RECORD, BLOCK]),
    ],
)
def test_a_story_s_word_beats_its_project_s(
    ours: Any, storybooks: Any, levels: list[Accessibility]
) -> None:
    assert [wish(ours, storybooks).at(each) for each in Accessibility] == levels


def test_what_axe_is_to_look_for_is_kept_as_far_as_it_is_plain() -> None:
    asked = {
        "rules": [
            {"id": "label", "enabled": False, "selector": "a", "any": ["x"]},
            {"enabled": True},
            "odd",
        ],
        "switched": {"region": True, "bypass": "[object]"},
        "runOnly": {"type": "rules", "values": ["label", 7]},
        "include": ["#root", "[object]"],
        "exclude": ".ad",
    }
    assert json.loads(wish(None, asked).checks) == {
        "rules": [{"id": "label", "enabled": False, "selector": "a"}],
        "switched": {"region": True},
        "runOnly": {"type": "rule", "values": ["label"]},
        "include": ["#root"],
        "exclude": [".ad"],
    }
    assert wish(None, {"runOnly": [], "rules": 7, "context": {}}).checks == ""
    assert json.loads(wish(None, {"runOnly": "wcag2a"}).checks)["runOnly"]["type"] == "tag"


def test_what_cannot_be_followed_is_a_warning() -> None:
    read = parse_parameters({"accessibility": "loud"}, None)
    (warning,) = read.warnings
    assert warning.text == "accessibility: 'loud' is none of off, addon, record, block, ignored"
    assert read.parameters.accessibility.own is None
    long = parse_parameters(None, {"accessibility": {"include": ["x" * 200] * 50}})
    assert f"more than {MAX_CHECKS} characters" in long.warnings[0].text
    assert long.parameters.accessibility.checks == ""
