"""Every field of what a child says of a picture has a bound; what is out of it is refused."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from consumer import examined as ex
from consumer import messages as m
from consumer.channel import FROM_CHILD, TO_CHILD, ChannelViolationError
from storyshelf.bundle.index import MAX_ID_BYTES
from storyshelf.diff.regions import MAX_REGIONS
from tests.consumer.test_channel import CAPTURED, COMPARED, OPTIONS, STORY

BOX = {"x": 0, "y": 0, "width": 1, "height": 1}
PLACE = {"target": "a", "html": "b", "summary": "c"}
RULE = {"rule": "r", "impact": "minor", "help": "h", "help_url": "u", "places": [PLACE]}
FOUND = {"found_by": "axe", "engine": "4", "violations": [RULE], "left_out": 0, "problem": ""}
LINE = {"level": "error", "text": "t"}
DEPENDS = {"suspect": STORY, "left": ["x"]}
LONG, NUL = "x" * 501, "a\0b"

# A field, and values of it that are just out of bounds.
BEYOND: Mapping[str, list[Any]] = {
    "id": [-1, 2**53, True, "7"],
    "story_id": ["", NUL, "x" * (MAX_ID_BYTES + 1), 7],
    "ending": ["well", None],
    "error": [{"code": "odd", "message": "", "stack": ""},
              {"code": "play_failed", "message": "x" * 4_001, "stack": ""},
              {"code": "play_failed", "message": "", "stack": "x" * 20_001}],
    "warnings": [[{"code": "odd", "text": ""}], [{"code": "dialog", "text": LONG}],
                 [{"code": "dialog", "text": ""}] * 51],
    "width_px": [-1, m.MAX_SIDE_PX + 1, 1.5, True],
    "height_px": [-1, m.MAX_SIDE_PX + 1, 10**30],
    "timings_ms": [{"x" * 61: 1.0}, {"render": -1.0}, {"render": 1e9}, {"render": float("nan")},
                   {str(number): 1.0 for number in range(21)}],
    "console": [[LINE] * (m.MAX_CONSOLE_LINES + 1), [LINE | {"text": LONG}],
                [LINE | {"level": "shout"}]],
    "untraced": [LONG, NUL, None],
    "page": ["elsewhere", None],
    "order_dependence": [
        DEPENDS | {"suspect": ""}, DEPENDS | {"suspect": "x" * (MAX_ID_BYTES + 1)},
        DEPENDS | {"left": ["x"] * (m.MAX_LEFT + 1)}, DEPENDS | {"left": [LONG]},
        DEPENDS | {"left": [NUL]}, DEPENDS | {"more": 1}, [],
    ],
    "level": ["highest", 3, None],
    "shots": [-1, 101, True, 1.5],
    "frame_bytes": [[0], [1] * (m.MAX_FRAMES + 1), [m.MAX_FRAMES_BYTES + 1], [True]],
    "examined": [
        FOUND | {"found_by": "me"}, FOUND | {"engine": LONG}, FOUND | {"problem": LONG},
        FOUND | {"left_out": -1}, FOUND | {"left_out": 2**31}, FOUND | {"left_out": True},
        FOUND | {"violations": [RULE] * (ex.MAX_RULES + 1)},
        FOUND | {"violations": [RULE | {"rule": "x" * 61}]},
        FOUND | {"violations": [RULE | {"impact": "awful"}]},
        FOUND | {"violations": [RULE | {"help": LONG}]},
        FOUND | {"violations": [RULE | {"help_url": NUL}]},
        FOUND | {"violations": [RULE | {"places": [PLACE] * (ex.MAX_PLACES + 1)}]},
        FOUND | {"violations": [RULE | {"places": [PLACE] * (ex.MAX_PLACES // 2 + 1)}] * 2},
        *(FOUND | {"violations": [RULE | {"places": [PLACE | {name: LONG}]}]} for name in PLACE),
    ],
    "ignored": [[BOX] * (m.MAX_IGNORED + 1), [BOX | {"x": -1}],
                [BOX | {"width": m.MAX_SIDE_PX + 1}], [BOX | {"y": 0.5}]],
    "kind": ["picture"],
}  # fmt: skip
ATTACHED: Mapping[str, int] = {
    "png": m.MAX_BASE_OR_HEAD_BYTES,
    "trace": m.MAX_TRACE_BYTES,
    "frames": m.MAX_FRAMES_BYTES,
}


def test_there_is_a_value_out_of_bounds_for_every_field() -> None:
    assert {*BEYOND, *ATTACHED} == {each.name for each in fields(m.Captured)}


@pytest.mark.parametrize("field", BEYOND)
def test_a_field_out_of_bounds_is_a_violation(field: str) -> None:
    _, header, *bodies = FROM_CHILD.encode(CAPTURED)
    for value in BEYOND[field]:
        forged = json.loads(header)
        forged["message"][field] = value
        with pytest.raises(ChannelViolationError):
            FROM_CHILD.decode(json.dumps(forged).encode(), b"".join(bodies))


@pytest.mark.parametrize("field", ATTACHED)
def test_an_attachment_is_held_to_its_own_bound(field: str) -> None:
    """Their sum is bounded besides: a trace may not be as large as a picture and all else."""
    names = list(ATTACHED)
    _, header, *_ = FROM_CHILD.encode(replace(CAPTURED, png=b""))
    for beyond in (0, 1):
        sizes = [ATTACHED[field] + beyond if name == field else 0 for name in names]
        told = json.loads(header) | {"attachments": sizes}
        body = bytes(sum(sizes))
        if not beyond:
            FROM_CHILD.decode(json.dumps(told).encode(), body)
            continue
        with pytest.raises(ChannelViolationError, match=f"{field} of"):
            FROM_CHILD.decode(json.dumps(told).encode(), body)


def test_one_who_would_send_too_large_an_attachment_is_told_before_it_goes() -> None:
    with pytest.raises(ChannelViolationError, match="frames of"):
        FROM_CHILD.encode(replace(CAPTURED, frames=bytes(m.MAX_FRAMES_BYTES + 1)))


def test_a_comparison_names_no_more_places_than_are_looked_for() -> None:
    """What a parent does with each of them is bounded by it."""
    most = replace(COMPARED, regions=(m.Box(1, 2, 3, 4),) * MAX_REGIONS)
    _, header, *bodies = FROM_CHILD.encode(most)
    assert FROM_CHILD.decode(header, b"".join(bodies)) == most
    forged = json.loads(header)
    forged["message"]["regions"].append(BOX)
    with pytest.raises(ChannelViolationError, match="regions"):
        FROM_CHILD.decode(json.dumps(forged).encode(), b"".join(bodies))


def test_all_that_three_pictures_want_ignored_may_be_asked_for() -> None:
    """The baseline's, and those of a first and a second picture; and not one more."""
    boxes = tuple(m.Box(number, 0, 1, 1) for number in range(3 * m.MAX_IGNORED))
    asked = m.Compare(4, replace(OPTIONS, ignored=boxes), b"base", b"head")
    _, header, *bodies = TO_CHILD.encode(asked)
    assert TO_CHILD.decode(header, b"".join(bodies)) == asked
