import json
from typing import get_type_hints

import pytest

from tests.storybook_builds import BUILD_DEADLINE_S, build_hazards
from tests.storybooks.expected_endings import Ending, Expected, expected_endings


@pytest.mark.timeout(BUILD_DEADLINE_S)
def test_each_story_of_the_hazards_has_an_expected_ending_and_no_other_has() -> None:
    index = json.loads((build_hazards() / "index.json").read_text(encoding="utf-8"))
    assert set(expected_endings()) == set(index["entries"])


def test_every_failure_and_every_skip_says_which() -> None:
    unsaid = [
        story_id
        for story_id, expected in expected_endings().items()
        if (expected.ending is not Ending.OK) != bool(expected.code)
    ]
    assert unsaid == []


def test_a_picture_is_compared_only_with_one_that_is_taken() -> None:
    endings = expected_endings()
    others = [endings[row.same_as].ending for row in endings.values() if row.same_as]
    assert others
    assert set(others) == {Ending.OK}


def test_the_table_holds_values_of_the_declared_types() -> None:
    hints = get_type_hints(Expected)
    names = {"warnings": str, "may_warn": str, "present": str, "absent": str, "widths": int}
    for row in expected_endings().values():
        for name, member in names.items():
            assert all(isinstance(value, member) for value in getattr(row, name)), (name, row)
        for name in ("code", "message", "same_as", "needs", "same_every_time"):
            assert isinstance(getattr(row, name), hints[name]), (name, row)
