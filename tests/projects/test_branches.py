"""Which branches a glob means."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.projects.branches import BadGlobError, is_among, parse_glob


@pytest.mark.parametrize(
    ("glob", "branch"),
    [
        ("main", "main"),
        ("renovate/*", "renovate/react"),
        ("renovate/**", "renovate/npm/react"),
        ("**", "any/thing"),
        ("*", "top"),
        ("release-?", "release-7"),
        ("**/fix", "a/b/fix"),
        ("a*b**c", "axb/y/c"),
        ("v1.0", "v1.0"),
        ("fest/🎉*", "fest/🎉🎉"),
        ("a**", "a"),
        ("***", "x/y"),
    ],
)
def test_a_glob_means_a_branch(glob: str, branch: str) -> None:
    assert is_among(branch, ["other", glob])


@pytest.mark.parametrize(
    ("glob", "branch"),
    [
        ("main", "main2"),
        ("main", "Main"),
        ("*", "feature/x"),
        ("renovate/*", "renovate/npm/react"),
        ("renovate/*", "renovate"),
        ("release-?", "release-10"),
        ("a?b", "a/b"),
        ("v1.0", "v1x0"),
        ("", "main"),
    ],
)
def test_a_glob_does_not_mean_more_than_it_says(glob: str, branch: str) -> None:
    assert not is_among(branch, [glob])


def test_without_globs_no_branch_is_meant() -> None:
    assert not is_among("main", [])


@given(st.text(max_size=50))
def test_a_name_without_stars_means_itself_alone(name: str) -> None:
    plain = name.replace("*", "").replace("?", "")
    assert is_among(plain, [plain])
    assert not is_among(plain + "x", [plain])


def test_no_glob_is_slow() -> None:
    began = time.perf_counter()
    assert not is_among("a" * 500, ["**a" * 60 + "b"])
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize("text", ["", "a" * 201, "a b", "ma[i]n", "!main", "a\\b", "a\nb"])
def test_what_no_branch_can_be_called_is_refused(text: str) -> None:
    with pytest.raises(BadGlobError, match="Use a branch's name"):
        parse_glob(text)
