from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.capture.verdict import Report, judge, judge_late, plain, read_report
from consumer.messages import ErrorCode, StoryError

THROWN = StoryError(ErrorCode.RENDER_FAILED, "TypeError: no data", "at x")


def a_report(
    *,
    phase: str = "finished",
    shows: str = "sb-show-main",
    display: str = "",
    error: StoryError | None = None,
    late: StoryError | None = None,
) -> Report:
    return Report(frozenset(), phase, frozenset({shows}), display, error, late)


def test_a_story_that_shows_its_main_block_is_fine() -> None:
    assert judge(a_report()) is None


def test_an_event_weighs_more_than_what_is_shown() -> None:
    assert judge(a_report(error=THROWN)) == THROWN


def test_the_error_display_counts_although_no_event_was_heard() -> None:
    judged = judge(a_report(shows="sb-show-errordisplay", display="it broke"))
    assert judged == StoryError(ErrorCode.RENDER_FAILED, "it broke", "")


def test_no_preview_is_a_missing_story() -> None:
    judged = judge(a_report(shows="sb-show-nopreview"))
    assert judged is not None
    assert judged.code is ErrorCode.MISSING_STORY


@pytest.mark.parametrize(
    ("phase", "code", "text"),
    [
        ("playing", ErrorCode.PLAY_TIMEOUT, "the play function was still running after 20 s"),
        ("loading", ErrorCode.RENDER_TIMEOUT, "the story was still loading after 20 s"),
        ("", ErrorCode.RENDER_TIMEOUT, "the story was still starting after 20 s"),
    ],
)
def test_a_story_without_an_end_is_named_by_its_phase(
    phase: str, code: ErrorCode, text: str
) -> None:
    assert judge_late(a_report(phase=phase), 20) == StoryError(code, text, "")


def test_a_story_without_an_end_says_what_the_page_complained_of() -> None:
    judged = judge_late(a_report(phase="loading", late=THROWN), 20)
    assert judged.message == "the story was still loading after 20 s: TypeError: no data"
    assert judged.stack == "at x"


def test_a_late_story_that_has_failed_is_called_by_its_failure() -> None:
    assert judge_late(a_report(phase="playing", error=THROWN), 20) == THROWN


def test_a_pages_account_is_read() -> None:
    raw = {
        "events": {"storyRendered": 1},
        "phase": "finished",
        "shows": ["sb-show-main"],
        "display": "",
        "error": {"kind": "play_failed", "name": "AssertionError", "message": "1", "stack": "s"},
        "late": None,
    }
    read = read_report(raw)
    assert read.events == {"storyRendered"}
    assert read.error == StoryError(ErrorCode.PLAY_FAILED, "AssertionError: 1", "s")


def test_our_own_address_is_taken_out_of_what_people_read() -> None:
    stack = "at f (http://b12.localhost:40123/assets/main.js:1:2)"
    assert plain(stack, 100) == "at f (assets/main.js:1:2)"


@pytest.mark.parametrize("character", ["\ud800", "\0"])
def test_a_character_that_cannot_be_stored_becomes_one_that_can(character: str) -> None:
    assert plain(f"a{character}b", 10) == "a\N{REPLACEMENT CHARACTER}b"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = [field.name for field in fields(Report)]


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING) | ANYTHING)
def test_a_hostile_account_is_read_as_far_as_it_goes(raw: object) -> None:
    report = read_report(raw)
    judge(report, "a shot")
    assert set(report.undeclared) <= set(report.shots)
