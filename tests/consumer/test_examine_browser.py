"""What is not accessible in a story is found after its picture was taken, by whoever looks."""

import json
from dataclasses import replace

import pytest

from consumer.capture import examine
from consumer.capture.sitting import Picture
from consumer.examined import MAX_PLACES, Examination, Examined, FoundBy, Impact
from consumer.messages import Page, Stage
from storyshelf.bundle.accessibility import checks_of
from tests.consumer.conftest import ORDER, Opener, Set
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook, html

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FAULTS = (
    "<main><img src='data:,' class=logo width=20 height=20><button id=go></button>"
    "<p style='color: #bbb; background: #fff'>faint</p><p class=late>late</p></main>"
    # 8.6 and later draw such around a story, which is not the story's affair
    "<div class='sb-wrapper'><img src='data:,'></div>"
)
HOSTILE = """
window.setTimeout = () => 0;
window.axe = { run: () => { throw new Error("not this one"); } };
document.querySelectorAll = () => [];
"""
OF_THE_ADDON = {
    "testEngine": {"name": "axe-core", "version": "4.10.2"},
    "violations": [
        {
            "id": "label",
            "impact": "critical",
            "help": "Form elements must have labels",
            "helpUrl": "https://dequeuniversity.com/rules/axe/4.10/label",
            "nodes": [{"target": [["#host", "input"], "em"], "html": "<input>"}] * 900,
        }
    ],
}


def reporting(result: object, kind: str = "a11y") -> LittleStory:
    """Return a story of which an addon has reported this."""
    report = json.dumps({"type": kind, "version": 1, "status": "failed", "result": result})
    return LittleStory(f"root.innerHTML = {json.dumps(FAULTS)}; context.reporters.push({report});")


async def shot(
    stage: Set, story: str, examination: Examination, checks: str = "", page: Page = Page.SHARED
) -> Picture:
    order = replace(ORDER, examination=examination, checks=checks)
    return await stage.shoot(story, order=order, page=page)


async def examined(
    stage: Set, story: str, examination: Examination = Examination.AXE, checks: str = ""
) -> Examined:
    picture = await shot(stage, story, examination, checks)
    assert picture.error is None
    assert picture.examined is not None
    return picture.examined


def found(result: Examined) -> dict[str, list[str]]:
    """Return the targets of each rule that is broken."""
    return {each.rule: [place.target for place in each.places] for each in result.violations}


async def test_our_own_run_finds_what_is_wrong_whatever_the_page_makes_of_its_globals(
    opened: Opener,
) -> None:
    hostile = LittleStory(f"{HOSTILE} root.innerHTML = {json.dumps(FAULTS)};")
    stage = await opened(
        LittleStorybook({"a--a": html(FAULTS), "a--hostile": hostile, "a--good": html(SQUARE)})
    )
    plain = await shot(stage, "a--a", Examination.OFF)
    with_results = await shot(stage, "a--a", Examination.AXE)
    assert plain.examined is None
    assert Stage.EXAMINING in stage.stages
    assert with_results.png == plain.png
    assert "examine" in with_results.timings_ms
    result = with_results.examined
    assert result is not None
    assert (result.found_by, result.engine, result.problem) == (FoundBy.AXE, "4.14.1", "")
    assert found(result) == {
        "button-name": ["#go"],
        "color-contrast": ["p:nth-child(3)"],
        "image-alt": [".logo"],
    }
    (image,) = [each for each in result.violations if each.rule == "image-alt"]
    assert image.impact is Impact.CRITICAL
    assert image.help_url.startswith("https://dequeuniversity.com/rules/axe/")
    assert image.places[0].html.startswith('<img src="data:,"')
    assert "alt" in image.places[0].summary
    assert found(await examined(stage, "a--hostile")) == found(result)
    assert found(await examined(stage, "a--good")) == {}


async def test_it_looks_for_what_storybooks_own_parameter_asks_for(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": html(FAULTS), "a--loose": html("<p>loose")}))
    rules = [
        {"id": "image-alt", "enabled": False},
        {"id": "color-contrast", "selector": "p:not(.late, p:nth-child(3))"},
        {"id": "region", "enabled": True},
    ]
    by_rules = checks_of({"rules": rules})
    assert found(await examined(stage, "a--a", checks=by_rules)).keys() == {"button-name"}
    assert found(await examined(stage, "a--loose", checks=by_rules)).keys() == {"region"}
    assert found(await examined(stage, "a--loose")) == {}
    only = checks_of({"runOnly": {"type": "rule", "values": ["image-alt", "button-name"]}})
    assert found(await examined(stage, "a--a", checks=only)).keys() == {"image-alt", "button-name"}
    tags = checks_of({"runOnly": ["wcag2aa"], "switched": {"image-alt": True}})
    assert found(await examined(stage, "a--a", checks=tags)).keys() == {
        "color-contrast",
        "image-alt",
    }
    within = checks_of({"include": ["main"], "exclude": ["button", "p"]})
    assert found(await examined(stage, "a--a", checks=within)) == {"image-alt": [".logo"]}
    missing = await examined(stage, "a--a", checks=checks_of({"include": "#nowhere"}))
    assert "No elements found for include" in missing.problem


async def test_the_addons_report_is_taken_where_it_is_there(opened: Opener) -> None:
    stories = {
        "a--told": reporting(OF_THE_ADDON),
        "a--failed": reporting({"error": {"message": "Axe is already running"}}),
        "a--other": reporting({}, "vitest"),
        "a--odd": reporting({"violations": [7, {"id": 3, "nodes": [None]}], "testEngine": None}),
        "a--silent": html(FAULTS),
    }
    stage = await opened(LittleStorybook(stories))
    for examination in (Examination.ADDON, Examination.AXE):
        told = await examined(stage, "a--told", examination)
        assert (told.found_by, told.engine) == (FoundBy.ADDON, "4.10.2")
        (label,) = told.violations
        assert (label.rule, label.impact) == ("label", Impact.CRITICAL)
        assert label.places[0].target == "#host >>> input | em"
        assert (len(label.places), told.left_out) == (MAX_PLACES, 900 - MAX_PLACES)
    failed = await examined(stage, "a--failed", Examination.ADDON)
    assert (failed.violations, failed.problem) == ((), "Axe is already running")
    for story in ("a--failed", "a--other", "a--silent"):
        assert found(await examined(stage, story)).keys() >= {"button-name", "image-alt"}
    for story in ("a--other", "a--silent"):
        assert (await shot(stage, story, Examination.ADDON)).examined is None
    odd = await examined(stage, "a--odd", Examination.ADDON)
    assert [(each.rule, each.impact) for each in odd.violations] == [("", Impact.UNKNOWN)]


async def test_what_goes_wrong_while_looking_costs_the_story_nothing(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = LittleStory(
        f"root.innerHTML = {json.dumps(SQUARE)};"
        "context.reporters.push({ type: 'a11y', get result() { return new Proxy({}, {"
        "  get: () => { for (;;) {} } }); } });"
    )
    stories = {"a--stuck": stuck, "a--next": html(FAULTS)}
    stories["a--broken"] = LittleStory("throw new Error('no');")
    stage = await opened(LittleStorybook(stories))
    monkeypatch.setattr(examine, "CALL_S", 1.0)
    picture = await shot(stage, "a--stuck", Examination.AXE)
    assert (picture.error, bool(picture.png)) == (None, True)
    assert picture.examined is not None
    assert "was not done after 1.0 s" in picture.examined.problem
    assert found(await examined(stage, "a--next")).keys() >= {"image-alt"}
    broken = await shot(stage, "a--broken", Examination.AXE)
    assert (broken.error is not None, broken.examined) == (True, None)
