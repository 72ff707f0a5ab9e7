import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.bundle.parameters import (
    KEYS,
    MAX_DELAY_MS,
    MAX_EDGE_PX,
    MAX_VIEWPORTS,
    MIN_EDGE_PX,
    ParameterWarning,
    ShotMode,
    StoryParameters,
    Viewport,
    modes_of,
    parse_parameters,
)

HUGE = 10**400


def read(value: object, chromatic: object = None) -> StoryParameters:
    """Parse what must be understood in full."""
    found = parse_parameters(value, chromatic)
    assert found.warnings == ()
    return found.parameters


def warned(value: object, chromatic: object = None) -> tuple[StoryParameters, list[str]]:
    found = parse_parameters(value, chromatic)
    assert found.warnings != ()
    return found.parameters, [warning.code for warning in found.warnings]


@pytest.mark.parametrize("nothing", [None, {}, {"viewports": None, "delay": None}])
def test_a_story_without_wishes_has_the_defaults(nothing: object) -> None:
    assert read(nothing, nothing) == StoryParameters(
        disable_snapshot=False, delay_ms=0, viewports=(), diff_threshold=None
    )


def test_all_four_keys_are_read_from_either_place() -> None:
    wishes = {"disableSnapshot": True, "delay": 300, "viewports": [320], "diffThreshold": 0.2}
    expected = StoryParameters(
        disable_snapshot=True, delay_ms=300, viewports=(Viewport(320, 720),), diff_threshold=0.2
    )
    assert read(wishes) == read(None, wishes) == expected


def test_storyshelf_beats_chromatic_key_by_key() -> None:
    found = read(
        {"delay": 1, "viewports": []}, {"delay": 2, "viewports": [320], "diffThreshold": 1}
    )
    assert found == StoryParameters(delay_ms=1, diff_threshold=1.0)


def test_a_wrong_value_falls_to_the_default_not_to_chromatics() -> None:
    found, codes = warned({"delay": "soon"}, {"delay": 500})
    assert (found.delay_ms, codes) == (0, ["bad_parameter"])


def test_unknown_keys_are_not_looked_at() -> None:
    assert read({"modes": {}, "delay ": 5, "__proto__": {"delay": 9}}) == StoryParameters()


@pytest.mark.parametrize("value", ["x", 7, True, [], [{"delay": 5}]])
def test_a_place_that_is_no_object_is_a_warning(value: object) -> None:
    found, codes = warned(value)
    assert (found, codes) == (StoryParameters(), ["bad_parameter"])


@pytest.mark.parametrize("value", ["true", 1, 0, {}, []])
def test_only_true_disables_a_snapshot(value: object) -> None:
    found, _ = warned({"disableSnapshot": value})
    assert found.disable_snapshot is False


@pytest.mark.parametrize(("value", "delay_ms"), [(0, 0), (1.6, 2), (15_000, 15_000)])
def test_a_delay_is_milliseconds(value: object, delay_ms: int) -> None:
    assert read({"delay": value}).delay_ms == delay_ms


@pytest.mark.parametrize("value", [15_001, 1e300])
def test_a_long_delay_is_cut_with_a_warning(value: object) -> None:
    assert warned({"delay": value})[0].delay_ms == MAX_DELAY_MS


@pytest.mark.parametrize("value", [-1, "300", True, math.nan, math.inf, HUGE, [], {}])
def test_a_delay_that_is_none_is_ignored_with_a_warning(value: object) -> None:
    assert warned({"delay": value})[0].delay_ms == 0


@pytest.mark.parametrize("value", [0, 1, 0.063])
def test_a_threshold_is_a_share(value: float) -> None:
    assert read({"diffThreshold": value}).diff_threshold == value


@pytest.mark.parametrize("value", [-0.1, 1.01, "0.1", True, math.nan, HUGE, [0.1]])
def test_a_threshold_that_is_none_is_ignored_with_a_warning(value: object) -> None:
    assert warned({"diffThreshold": value})[0].diff_threshold is None


@pytest.mark.parametrize(
    ("value", "viewport"),
    [
        (1200, Viewport(1200, 720)),
        (320.0, Viewport(320, 720)),
        ("1200px", Viewport(1200, 720)),
        (" 400 ", Viewport(400, 720)),
        ({"width": 320, "height": 568}, Viewport(320, 568)),
        ({"width": "320px", "height": "568px"}, Viewport(320, 568)),
        ({"width": 320}, Viewport(320, 720)),
        (MIN_EDGE_PX, Viewport(200, 720)),
        (MAX_EDGE_PX, Viewport(2560, 720)),
    ],
)
def test_a_viewport_is_a_width_or_both_edges(value: object, viewport: Viewport) -> None:
    assert read({"viewports": [value]}).viewports == (viewport,)


@pytest.mark.parametrize(
    "value",
    [
        199,
        2561,
        -320,
        320.5,
        True,
        None,
        math.nan,
        HUGE,
        [],
        {},
        {"width": 320, "height": None},
        {"width": 320, "height": 99},
        {"height": 320},
        {"width": {}, "height": 320},
    ],
)
def test_a_viewport_that_is_none_is_left_out_with_a_warning(value: object) -> None:
    found, codes = warned({"viewports": [value, 400]})
    assert (found.viewports, codes) == ((Viewport(400),), ["bad_parameter"])


@pytest.mark.parametrize("name", ["phone", "100%", "320em", "", "99999999999px"])
def test_a_name_nobody_knows_has_a_code_of_its_own(name: str) -> None:
    found, codes = warned({"viewports": [name]})
    assert (found.viewports, codes) == ((), ["unknown_viewport"])


@pytest.mark.parametrize("value", ["320", 320, {"width": 320}, True])
def test_viewports_that_are_no_list_are_ignored_with_a_warning(value: object) -> None:
    assert warned({"viewports": value})[0].viewports == ()


def test_equal_viewports_make_one_picture() -> None:
    assert read({"viewports": [320, "320px", {"width": 320}]}).viewports == (Viewport(320),)


def test_more_viewports_than_allowed_are_cut_with_a_warning() -> None:
    found, codes = warned({"viewports": list(range(300, 300 + MAX_VIEWPORTS + 5))})
    assert (len(found.viewports), codes) == (MAX_VIEWPORTS, ["bad_parameter"])


def test_a_warning_says_the_key_the_value_and_what_was_done() -> None:
    found = parse_parameters({"delay": "soon"}, None)
    text = "delay: 'soon' is not a number of milliseconds ≥ 0, ignored"
    assert found.warnings == (ParameterWarning("bad_parameter", text),)


@pytest.mark.parametrize("value", ["x" * 10**6, HUGE, {"a": "b" * 10**6}, ["\x1b[2J"] * 9999])
def test_a_warning_about_a_monster_stays_short_and_printable(value: object) -> None:
    text = parse_parameters({"delay": value}, None).warnings[0].text
    assert len(text) < 300
    assert text.isprintable()


def test_a_story_without_viewports_has_the_default_mode() -> None:
    assert modes_of(StoryParameters()) == (ShotMode("default", Viewport(1280, 720)),)


def test_a_story_with_viewports_has_a_mode_for_each() -> None:
    parameters = StoryParameters(viewports=(Viewport(320), Viewport(320, 568)))
    assert modes_of(parameters) == (
        ShotMode("320px", Viewport(320, 720)),
        ShotMode("320x568", Viewport(320, 568)),
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*KEYS, "width", "height", "globals", "args", "disable", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON, JSON)
def test_no_json_breaks_it_and_all_results_are_in_range(storyshelf: Any, chromatic: Any) -> None:
    found = parse_parameters(storyshelf, chromatic).parameters
    modes = modes_of(found)
    assert 0 <= found.delay_ms <= MAX_DELAY_MS
    assert found.diff_threshold is None or 0 <= found.diff_threshold <= 1
    assert len({mode.name for mode in modes}) == len(modes) >= 1
    edges = [
        edge for viewport in found.viewports for edge in (viewport.width_px, viewport.height_px)
    ]
    assert all(MIN_EDGE_PX <= edge <= MAX_EDGE_PX for edge in edges)
