"""What a project may set, as it is read back."""

import pytest

from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.parameters import Viewport
from storyshelf.bundle.tags import TagRule
from storyshelf.projects.allowed_hosts import AllowedHost
from storyshelf.projects.options import OPTIONS, BadOptionError, ProjectOptions, parse_option


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


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("viewports=375", ["375px"]),
        ("viewports=375, 1280x800 375px", ["375px", "1280x800"]),
        ("viewports=1280x720", ["1280px"]),
        ("viewports=none", []),
        ("accepts_branches=main,renovate/**", ["main", "renovate/**"]),
        ("accepts_branches=", []),
        ("public_storybook=yes", True),
        ("keep_builds=20", 20),
        ("keep_builds=none", None),
        ("keep_days=1", 1),
        ("max_running=4", 4),
        (
            "allowed_hosts=Fonts.Example.com *.example.com:8443",
            ["fonts.example.com", "*.example.com:8443"],
        ),
        ("allowed_hosts=none", []),
        ("captures_docs=yes", True),
        ("padding=0", 0),
        ("padding=200", 200),
        ("story_tags=test,!wip test", ["test", "!wip"]),
        ("story_tags=none", []),
        ("accessibility=Block", "block"),
        ("isolation=fresh-context", "fresh-context"),
        ("isolation=Strict", "strict"),
    ],
)
def test_an_option_is_stored_in_one_form(given: str, stored: object) -> None:
    assert parse_option(given)[1] == stored


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("viewports=wide", "'wide' is not a width"),
        ("viewports=199", "within 200 to 2560 px"),
        ("viewports=375x2561", "within 200 to 2560 px"),
        ("viewports=" + ",".join(str(300 + n) for n in range(17)), "more than 16 viewports"),
        ("accepts_branches=ma[i]n", "means nothing"),
        ("accepts_branches=" + "a" * 201, "1 to 200 characters"),
        ("accepts_branches=" + ",".join(f"b{n}" for n in range(51)), "more than 50 branches"),
        ("public_storybook=perhaps", "neither true nor false"),
        ("keep_builds=0", "whole number from 1"),
        ("keep_builds=-1", "whole number from 1"),
        ("keep_days=2.5", "whole number from 1"),
        ("keep_days=²", "whole number from 1"),
        ("keep_days=99999", "to 36,500"),
        ("padding=201", "whole number from 0 to 200"),
        ("padding=none", "whole number from 0 to 200"),
        ("allowed_hosts=" + ",".join(f"h{n}.test" for n in range(51)), "more than 50 hosts"),
        ("allowed_hosts=https://a.test/", "is not a host such as"),
        ("accessibility=yes", "none of off, addon, record, block"),
        ("isolation=fresh", "none of shared, strict, fresh-context"),
        ("story_tags=!", "is not a tag such as"),
        ("story_tags=!!a", "is not a tag such as"),
        ("story_tags=" + "a" * 61, "is not a tag such as"),
        ("story_tags=" + ",".join(f"t{n}" for n in range(21)), "more than 20 tags"),
    ],
)
def test_lists_and_numbers_have_their_bounds(given: str, problem: str) -> None:
    with pytest.raises(BadOptionError, match=problem):
        parse_option(given)


def test_what_is_stored_is_read_back_as_it_was() -> None:
    written = [
        "viewports=375,1280x800",
        "accepts_branches=main",
        "public_storybook=true",
        "keep_builds=3",
        "keep_days=none",
        "allowed_hosts=*.cdn.test",
        "captures_docs=true",
        "padding=0",
        "story_tags=test,!wip",
        "accessibility=record",
        "isolation=strict",
    ]
    stored = dict(parse_option(one) for one in written)
    options = ProjectOptions.parse(stored)
    assert options.viewports == (Viewport(375, 720), Viewport(1280, 800))
    assert options.allowed_hosts == (AllowedHost("cdn.test", is_below=True),)
    assert options.accessibility is Accessibility.RECORD
    assert options.story_tags == (TagRule("test"), TagRule("wip", is_banned=True))
    assert ProjectOptions().to_json() | stored == options.to_json()


def test_a_refused_option_lists_all_that_there_are() -> None:
    with pytest.raises(BadOptionError) as refused:
        parse_option("colour=red")
    assert all(name in refused.value.next_step for name in ProjectOptions().to_json())
    assert set(OPTIONS) == set(ProjectOptions.__slots__)
