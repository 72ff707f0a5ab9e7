"""What a project may set, as it is read back."""

import pytest

from storyshelf.projects.options import BadOptionError, ProjectOptions, parse_option


def test_what_nobody_set_has_its_default() -> None:
    assert ProjectOptions.parse({}) == ProjectOptions()


def test_what_was_set_is_read() -> None:
    stored = {"cancels_older_builds": True, "diff_threshold": 0.2}
    assert ProjectOptions.parse(stored) == ProjectOptions(
        cancels_older_builds=True, diff_threshold=0.2
    )


def test_an_option_of_another_version_is_left_out() -> None:
    assert ProjectOptions.parse({"tomorrow": 1, "diff_threshold": 0.2}).diff_threshold == 0.2


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ("cancels_older_builds=true", ("cancels_older_builds", True)),
        ("cancels_older_builds=OFF", ("cancels_older_builds", False)),
        ("diff_threshold=0.25", ("diff_threshold", 0.25)),
        ("diff_threshold=0", ("diff_threshold", 0.0)),
    ],
)
def test_an_option_is_read_as_a_person_types_it(
    given: str, option: tuple[str, bool | float]
) -> None:
    assert parse_option(given) == option


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("cancels_older_builds", "not of the form"),
        ("colour=red", "no option 'colour'"),
        ("cancels_older_builds=maybe", "neither true nor false"),
        ("diff_threshold=much", "is not a number"),
        ("diff_threshold=1.1", "from 0 to 1"),
        ("diff_threshold=-0.1", "from 0 to 1"),
        ("diff_threshold=nan", "from 0 to 1"),
    ],
)
def test_an_option_that_cannot_be_says_why(given: str, problem: str) -> None:
    with pytest.raises(BadOptionError, match=problem):
        parse_option(given)
