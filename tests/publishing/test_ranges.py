"""Which bytes are asked for."""

import pytest

from storyshelf.publishing.ranges import Part, Unsatisfiable, asked_part, is_known


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-0", Part(0, 1)),
        ("bytes=0-99", Part(0, 100)),
        ("bytes=90-1000", Part(90, 100)),
        ("bytes=90-", Part(90, 100)),
        ("bytes=-1", Part(99, 100)),
        ("bytes=-1000", Part(0, 100)),
        ("BYTES= 1-2 ", Part(1, 3)),
    ],
)
def test_a_range_is_a_part_of_the_file(header: str, part: Part) -> None:
    assert asked_part(header, 100) == part


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_range_after_the_end_is_none_of_it(header: str) -> None:
    assert asked_part(header, 100) == Unsatisfiable()


@pytest.mark.parametrize("header", ["bytes=0-", "bytes=0-9", "bytes=-9"])
def test_nothing_has_no_part(header: str) -> None:
    assert asked_part(header, 0) == Unsatisfiable()


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes=-",
        "bytes=9-1",
        "bytes=0-1,5-6",
        "bytes=a-b",
        "bytes=+1-2",
        "bytes=\u0660-\u0669",
        "items=0-9",
        "bytes=0-" + "9" * 5_000,
    ],
)
def test_what_is_no_single_range_is_answered_with_the_whole(header: str | None) -> None:
    assert asked_part(header, 100) is None


@pytest.mark.parametrize("header", ['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', "*"])
def test_a_browser_knows_what_it_names(header: str) -> None:
    assert is_known(header, '"a"')


@pytest.mark.parametrize("header", [None, "", '"b"', "a", '"b", "c"', '"*"'])
def test_a_browser_does_not_know_what_it_does_not_name(header: str | None) -> None:
    assert not is_known(header, '"a"')
