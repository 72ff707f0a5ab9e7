"""The padding of a story's picture is its own, or its project's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from storyshelf.builds.plan_build import plan
from storyshelf.bundle.look import USUAL
from storyshelf.projects.options import ProjectOptions
from tests.builds.test_plan import ALONE, by_story, content


@pytest.mark.parametrize(
    ("wish", "project", "expected"), [({}, 16, USUAL), ({}, 8, 8), ({"padding": 16}, 8, 16)]
)
def test_a_storys_padding_beats_its_projects(
    wish: Mapping[str, Any], project: int, expected: int
) -> None:
    rows = by_story(
        plan(content("a--a", a__a=wish), replace(ALONE, options=ProjectOptions(padding=project)))
    )
    assert rows["a--a"].options.look.padding_px == expected
