"""Modes: how the levels stack, what a mode may say, and what becomes of what nobody understands."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from storyshelf.bundle.look import (
    ALWAYS,
    Animations,
    ColorScheme,
    Crop,
    ForcedColors,
    Look,
    Media,
    Motion,
)
from storyshelf.bundle.modes import MAX_MODES, stacked
from storyshelf.bundle.parameters import ShotMode, Viewport, modes_of, parse_parameters


def shot(storyshelf: object, others: object = None) -> Mapping[str, ShotMode]:
    """Return the modes of what must be understood in full, by name."""
    found = parse_parameters(storyshelf, others)
    assert found.warnings == ()
    return {mode.name: mode for mode in modes_of(found.parameters)}


def warned(storyshelf: object) -> tuple[Mapping[str, ShotMode], list[str]]:
    found = parse_parameters(storyshelf, None)
    texts = [warning.text for warning in found.warnings]
    assert texts
    return {mode.name: mode for mode in modes_of(found.parameters)}, texts


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([], {}),
        ([{}, {}], {}),
        ([{"a": {"viewport": 320}}], {"a": {"viewport": 320}}),
        ([{"a": {}}, {"b": {}}], {"a": {}, "b": {}}),
        ([{"a": {"viewport": 320}}, {"a": {"viewport": 800}}], {"a": {"viewport": 800}}),
        (
            [{"a": {"viewport": 320}}, {"a": {"colorScheme": "dark"}}],
            {"a": {"viewport": 320, "colorScheme": "dark"}},
        ),
        (
            [{"a": {"globals": {"x": 1, "y": 1}}}, {"a": {"globals": {"y": 2}}}],
            {"a": {"globals": {"x": 1, "y": 2}}},
        ),
        ([{"a": {"globals": {"x": 1}}}, {"a": {"globals": 7}}], {"a": {"globals": 7}}),
        (
            [{"a": {"viewport": 320}}, {"a": {"disable": True}}, {"a": {"disable": False}}],
            {"a": {"viewport": 320, "disable": False}},
        ),
    ],
)
def test_levels_are_stacked_field_by_field(
    levels: list[Mapping[str, Mapping[str, object]]], expected: Mapping[str, Any]
) -> None:
    assert stacked(levels) == expected


def test_stacking_changes_no_level() -> None:
    below = {"a": {"globals": {"x": 1}}}
    stacked([below, {"a": {"globals": {"y": 2}}}])
    assert below == {"a": {"globals": {"x": 1}}}


def test_a_mode_of_chromatics_has_a_viewport_and_globals() -> None:
    modes = {"mobile dark": {"viewport": 320, "theme": "dark", "locale": "fr"}}
    (mode,) = shot(None, {"modes": modes}).values()
    assert (mode.name, mode.viewport) == ("mobile dark", Viewport(320))
    assert mode.look == Look(globals='{"locale": "fr", "theme": "dark"}')


def test_a_mode_of_ours_says_all_that_a_browser_can_be() -> None:
    wish = {
        "viewport": {"width": 400, "height": 800},
        "scale": 2,
        "colorScheme": "dark",
        "prefersReducedMotion": "no-preference",
        "forcedColors": "active",
        "media": "print",
        "locale": "de-CH",
        "timeZone": "Europe/Zurich",
        "cropToViewport": True,
        "globals": {"theme": "dark"},
        "args": {"label": "Grüezi"},
        "density": "compact",
    }
    mode = shot({"modes": {"swiss": wish}})["swiss"]
    assert mode.viewport == Viewport(400, 800, 2.0)
    assert mode.look == Look(
        locale="de-CH",
        time_zone="Europe/Zurich",
        color_scheme=ColorScheme.DARK,
        motion=Motion.FREE,
        forced_colors=ForcedColors.ACTIVE,
        media=Media.PRINT,
        crop=Crop.VIEWPORT,
        globals='{"density": "compact", "theme": "dark"}',
        args='{"label": "Grüezi"}',
    )


def test_ours_is_stacked_upon_another_tools() -> None:
    others = {"modes": {"a": {"viewport": 320, "theme": "dark"}, "b": {"theme": "light"}}}
    modes = shot({"modes": {"a": {"viewport": 800}, "b": {"disable": True}}}, others)
    assert list(modes) == ["a"]
    assert modes["a"].viewport == Viewport(800)
    assert modes["a"].look.globals == '{"theme": "dark"}'


def test_a_story_whose_modes_are_all_disabled_has_the_default_one() -> None:
    assert list(shot({"modes": {"a": {"disable": True}}})) == ["default"]


@pytest.mark.parametrize(
    ("viewport", "expected"),
    [
        ("mobile1", Viewport(320, 568)),
        ("tablet", Viewport(834, 1112)),
        ({"width": "375px", "height": "667px"}, Viewport(375, 667)),
        (600, Viewport(600)),
        ("600px", Viewport(600)),
    ],
)
def test_a_viewport_is_a_name_a_number_or_an_object(viewport: object, expected: Viewport) -> None:
    assert shot({"modes": {"a": {"viewport": viewport}}})["a"].viewport == expected


def test_a_mode_adds_to_the_storys_own_look() -> None:
    wishes = {"colorScheme": "dark", "scale": 2, "modes": {"a": {"media": "print"}, "b": {}}}
    modes = shot(wishes)
    assert modes["a"].look == Look(color_scheme=ColorScheme.DARK, media=Media.PRINT)
    assert modes["b"].look == Look(color_scheme=ColorScheme.DARK)
    assert modes["b"].viewport == Viewport(1280, 720, 2.0)


def test_a_story_without_modes_is_shot_in_its_own_look_under_its_old_name() -> None:
    (mode,) = shot(None, {"forcedColors": "active"}).values()
    assert mode == ShotMode("default", Viewport(), Look(forced_colors=ForcedColors.ACTIVE))


def test_storybooks_own_viewport_is_the_storys_default() -> None:
    others = {"viewport": {"width": "414px", "height": "896px"}}
    assert shot(None, others)["default"].viewport == Viewport(414, 896)
    assert shot(None, others | {"viewports": [320]})["320px"].viewport == Viewport(320)
    assert shot(None, others | {"modes": {"a": {}}})["a"].viewport == Viewport(414, 896)
    assert shot({"viewport": 800}, others)["default"].viewport == Viewport(800)


@pytest.mark.parametrize("own", ["responsive", {"width": "100%", "height": "100%"}, 7, ""])
def test_storybooks_own_viewport_may_be_no_size_and_nobody_is_told(own: object) -> None:
    assert shot(None, {"viewport": own})["default"].viewport == Viewport()


def test_the_projects_viewports_are_of_stories_that_name_none() -> None:
    project = (Viewport(375), Viewport(800))
    told = parse_parameters({"viewport": 500}, None).parameters
    assert [mode.viewport for mode in modes_of(told, project)] == [Viewport(500)]
    told = parse_parameters({"modes": {"a": {}}}, None).parameters
    assert [mode.viewport for mode in modes_of(told, project)] == [Viewport()]
    told = parse_parameters({"scale": 2}, None).parameters
    assert [mode.viewport.scale for mode in modes_of(told, project)] == [2.0, 2.0]


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (7, "modes.a: 7 is not an object, ignored"),
        ({"viewport": "phone"}, "modes.a.viewport: 'phone' is not a viewport known here, ignored"),
        ({"scale": 4}, "modes.a.scale: 4 is none of 1, 1.5, 2, 3, ignored"),
        ({"disable": "yes"}, "modes.a.disable: 'yes' is not true or false, ignored"),
        ({"media": "tv"}, "modes.a.media: 'tv' is none of screen, print, ignored"),
        (
            {"colorScheme": "sepia"},
            "modes.a.colorScheme: 'sepia' is none of light, dark, ignored",
        ),
        (
            {"timeZone": "Mars/Olympus"},
            "modes.a.timeZone: 'Mars/Olympus' is not a time zone such as Europe/Zurich, ignored",
        ),
        (
            {"locale": "Deutsch!"},
            "modes.a.locale: 'Deutsch!' is not a language tag such as de-CH, ignored",
        ),
        ({"globals": 7}, "modes.a.globals: 7 is not an object, ignored"),
        ({"args": ["x"]}, "modes.a.args: a list is not an object, ignored"),
    ],
)
def test_a_wish_that_nobody_understands_is_told_with_its_place(mode: object, text: str) -> None:
    modes, texts = warned({"modes": {"a": mode}})
    assert text in texts
    assert all(each.look == ALWAYS for each in modes.values())


@pytest.mark.parametrize("name", ["", "x" * 61, "a\nb", "\x00"])
def test_a_name_that_cannot_be_part_of_a_key_is_left_out(name: str) -> None:
    modes, _ = warned({"modes": {name: {}, "good": {}}})
    assert list(modes) == ["good"]


def test_more_modes_than_allowed_are_cut_with_a_warning() -> None:
    modes, texts = warned({"modes": {f"m{n}": {} for n in range(MAX_MODES + 3)}})
    assert (len(modes), len(texts)) == (MAX_MODES, 1)


def test_viewports_beside_modes_are_told_to_be_ignored() -> None:
    modes, texts = warned({"modes": {"a": {}}, "viewports": [320]})
    assert (list(modes), len(texts)) == (["a"], 1)


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"skip": True}, "its parameters set skip"),
        ({"skip": "waits for the new font"}, "waits for the new font"),
        ({"skip": False}, ""),
    ],
)
def test_a_story_is_skipped_for_a_reason(wish: Mapping[str, object], reason: str) -> None:
    told = parse_parameters(wish, None).parameters
    assert (told.skip_reason, told.disable_snapshot) == (reason, bool(reason))


@pytest.mark.parametrize(
    ("wish", "selectors"),
    [
        ([".clock", " .date ", ".clock"], (".clock", ".date")),
        (".clock", (".clock",)),
        ([], ()),
    ],
)
def test_what_is_not_compared_is_named_by_selectors(
    wish: object, selectors: tuple[str, ...]
) -> None:
    wishes = {"ignoreSelectors": [".all"], "modes": {"a": {"ignoreSelectors": wish}, "b": {}}}
    modes = shot(wishes)
    assert (modes["a"].look.ignored, modes["b"].look.ignored) == (selectors, (".all",))


@pytest.mark.parametrize(
    ("wish", "selectors"),
    [
        (7, ()),
        ([".a", 7, "", "x" * 200], (".a",)),
        ([f".c{number}" for number in range(31)], tuple(f".c{number}" for number in range(30))),
    ],
)
def test_selectors_that_cannot_be_followed_are_told(
    wish: object, selectors: tuple[str, ...]
) -> None:
    modes, texts = warned({"ignoreSelectors": wish})
    assert (modes["default"].look.ignored, len(texts)) == (selectors, 1)


@pytest.mark.parametrize(
    ("wish", "look"),
    [
        ({"pauseAnimationAtEnd": False}, Look(animations=Animations.START)),
        ({"fullPage": True}, Look(crop=Crop.PAGE)),
        ({"fullPage": True, "cropToViewport": True}, Look(crop=Crop.VIEWPORT)),
        ({"padding": 0}, Look(padding_px=0)),
        ({"scrollThrough": True}, Look(scrolls=True)),
        ({"scrollbars": True}, Look(scrollbars=True)),
        ({"waitFor": "#map .tile"}, Look(wait_for="#map .tile")),
        ({"freezeTime": False}, Look(time="real")),
        ({"freezeTime": "2031-02-03T04:05:06Z"}, Look(time="1927857906000")),
        ({"freezeTime": "2031-02-03"}, Look(time="1927843200000")),
    ],
)
def test_a_wish_is_a_storys_or_a_modes(wish: Mapping[str, object], look: Look) -> None:
    usual = {"pauseAnimationAtEnd": True, "fullPage": False, "scrollThrough": False}
    modes = shot({"modes": {"a": wish, "b": {}, "c": usual | {"freezeTime": True}}})
    assert (modes["a"].look, modes["b"].look, modes["c"].look) == (look, ALWAYS, ALWAYS)
    assert shot(wish)["default"].look == look


@pytest.mark.parametrize(
    "wish",
    [
        {"padding": 201},
        {"padding": -1},
        {"padding": 1.5},
        {"padding": "wide"},
        {"freezeTime": "noon"},
        {"freezeTime": 7},
        {"waitFor": ""},
        {"waitFor": 7},
        {"waitFor": "x" * 200},
        {"scrollThrough": "yes"},
        {"fullPage": 1},
    ],
)
def test_a_wish_that_cannot_be_followed_is_told(wish: Mapping[str, object]) -> None:
    modes, texts = warned(wish)
    assert (modes["default"].look, len(texts)) == (ALWAYS, 1)


def test_what_means_nothing_new_is_followed_in_silence() -> None:
    assert (
        parse_parameters(None, {"ignoreSelectors": [], "pauseAnimationAtEnd": True}).warnings == ()
    )


def test_a_look_is_stored_and_read_back() -> None:
    look = Look("de", media=Media.PRINT, crop=Crop.VIEWPORT, args='{"a": 1}', ignored=(".x", "y"))
    stored = json.loads(json.dumps(look.to_json()))
    assert Look.parse(stored) == look
    assert ALWAYS.to_json() == {}


def test_a_look_has_bounds_whoever_makes_it() -> None:
    with pytest.raises(ValueError, match="60 characters"):
        Look(locale="x" * 61)
    with pytest.raises(ValueError, match="3000 characters"):
        Look(args="x" * 3_001)
    with pytest.raises(ValueError, match="30 selectors"):
        Look(ignored=(".x",) * 31)
