"""Rows of text as aligned columns."""

from storyshelf.cli.columns import columns


def test_words_stand_to_the_left_and_numbers_to_the_right() -> None:
    lines = columns(("KIND", "DONE", "ERROR"), [("plan", "7", "none"), ("capture", "1,200", "-")])
    assert lines == [
        "KIND      DONE  ERROR",
        "plan         7  none",
        "capture  1,200  -",
    ]


def test_an_estimate_is_a_number_too() -> None:
    assert columns(("WAIT",), [("about 1,200,000",), ("-",)])[1:] == [
        "about 1,200,000",
        "              -",
    ]


def test_what_mixes_words_and_numbers_is_words() -> None:
    assert columns(("STATE", "X"), [("runs", "1"), ("7", "1")])[2] == "7      1"
