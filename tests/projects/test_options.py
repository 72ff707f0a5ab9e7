"""What a project may set, as it is read back."""

from storyshelf.projects.options import ProjectOptions


def test_what_nobody_set_has_its_default() -> None:
    assert ProjectOptions.parse({}) == ProjectOptions()


def test_what_was_set_is_read() -> None:
    stored = {"cancels_older_builds": True, "diff_threshold": 0.2}
    assert ProjectOptions.parse(stored) == ProjectOptions(True, 0.2)  # noqa: FBT003  # a value


def test_an_option_of_another_version_is_left_out() -> None:
    assert ProjectOptions.parse({"tomorrow": 1, "diff_threshold": 0.2}).diff_threshold == 0.2
