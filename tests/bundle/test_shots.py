"""The named shots of a story: how they are declared, and what their pictures are called."""

import pytest

from storyshelf.bundle.look import Look
from storyshelf.bundle.parameters import ShotMode, Viewport, modes_of, parse_parameters


def pictures(storyshelf: object) -> tuple[list[ShotMode], list[str]]:
    found = parse_parameters(storyshelf, None)
    return list(modes_of(found.parameters)), [warning.text for warning in found.warnings]


def names(storyshelf: object) -> list[str]:
    shown, warnings = pictures(storyshelf)
    assert warnings == []
    return [mode.name for mode in shown]


def test_a_shot_is_a_picture_besides_the_one_at_the_end() -> None:
    shown, _ = pictures({"shots": ["menu open"], "viewport": 320, "locale": "de"})
    assert shown == [
        ShotMode("default", Viewport(320), Look(locale="de")),
        ShotMode("menu open", Viewport(320), Look(locale="de", shot="menu open")),
    ]


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({"shots": []}, ["default"]),
        ({"shots": ["a", "a"]}, ["default", "a"]),
        ({"viewports": [320], "shots": ["a", "b"]}, ["320px", "320px @ a", "320px @ b"]),
        ({"modes": {"x": {}, "y": {}}, "shots": ["a"]}, ["x", "x @ a", "y", "y @ a"]),
    ],
)
def test_shots_are_taken_in_every_mode(wishes: object, expected: list[str]) -> None:
    assert names(wishes) == expected


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({"shots": "a"}, ["default"]),
        ({"shots": ["", "x" * 41, "a\nb", 7, "good"]}, ["default", "good"]),
        ({"shots": ["default", "good"]}, ["default", "good"]),
        (
            {"modes": {"x": {}, "x @ a": {}}, "shots": ["a", "b"]},
            ["x", "x @ b", "x @ a", "x @ a @ b"],
        ),
        ({"modes": {"default": {}, "a": {}}, "shots": ["a"]}, ["default", "a"]),
        ({"shots": [str(number) for number in range(12)]}, ["default", *map(str, range(10))]),
    ],
)
def test_what_cannot_be_a_name_is_left_out_with_a_warning(
    wishes: object, expected: list[str]
) -> None:
    shown, warnings = pictures(wishes)
    assert [mode.name for mode in shown] == expected
    assert warnings
    assert len({mode.name for mode in shown}) == len(shown)
