"""What Storybook's own accessibility addon reports, and our run beside it, on what npm built."""

from dataclasses import replace

import pytest

from consumer.examined import Examination, Examined, FoundBy
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.parameters import StoryParameters, parse_parameters
from tests.consumer.conftest import ORDER, BuiltStorybook, Opener, Set
from tests.storybook_builds import BUILD_DEADLINE_S, build_examined

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(BUILD_DEADLINE_S + 60),
]
FAULTS = {"image-alt": ["img"], "color-contrast": ["#storybook-root > div > p"]}


async def wishes(stage: Set) -> dict[str, StoryParameters]:
    read = await stage.studio.read_stories(30_000)
    return {
        each.story_id: parse_parameters(each.storyshelf, each.chromatic).parameters
        for each in read.stories
    }


async def examined(
    stage: Set, story: str, examination: Examination, checks: str = ""
) -> Examined | None:
    order = replace(ORDER, examination=examination, checks=checks)
    picture = await stage.shoot(f"faults--{story}", order=order)
    assert picture.error is None
    return picture.examined


def rules(result: Examined | None) -> dict[str, list[str]]:
    assert result is not None
    assert result.problem == ""
    return {each.rule: [place.target for place in each.places] for each in result.violations}


async def test_the_addons_report_and_our_run_agree_and_keep_to_what_stories_ask(
    opened: Opener,
) -> None:
    stage = await opened(BuiltStorybook(build_examined()))
    wished = {story: each.accessibility for story, each in (await wishes(stage)).items()}
    told = await examined(stage, "plain", Examination.AXE)
    assert told is not None
    assert (told.found_by, rules(told)) == (FoundBy.ADDON, FAULTS)
    assert await examined(stage, "manual", Examination.ADDON) is None
    ours = await examined(stage, "manual", Examination.AXE)
    assert ours is not None
    assert (ours.found_by, rules(ours)) == (FoundBy.AXE, FAULTS)
    assert told.violations == ours.violations
    checks = wished["faults--chosen"].checks
    chosen = await examined(stage, "chosen", Examination.AXE, checks)
    assert rules(chosen) == {"color-contrast": FAULTS["color-contrast"]}
    levels = {story: wish.at(Accessibility.RECORD) for story, wish in wished.items()}
    assert levels == {
        "faults--plain": Accessibility.RECORD,
        "faults--manual": Accessibility.RECORD,
        "faults--off": Accessibility.OFF,
        "faults--strict": Accessibility.BLOCK,
        "faults--chosen": Accessibility.RECORD,
    }
