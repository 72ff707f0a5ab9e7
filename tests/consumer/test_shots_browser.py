"""A shot of a story shows it as it was when its play function asked for it."""

from dataclasses import replace

import pytest

from consumer.capture.sitting import Picture
from consumer.messages import ErrorCode, Page, StoryError
from storyshelf.bundle.look import Look
from storyshelf.diff.png import decode
from tests.consumer.conftest import ORDER, Opener, Set
from tests.consumer.little_storybook import (
    BLUE,
    RED,
    SQUARE,
    LittleStory,
    LittleStorybook,
    html,
    pixel,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PAINT = "document.querySelector('#storybook-root div').style.background = '{}';"
ASK = "await globalThis.storyshelf?.shot('{}');"
PLAYED = LittleStory(
    html(SQUARE).render,
    play=PAINT.format("blue")
    + ASK.format("blue")
    + PAINT.format("lime")
    + ASK.format("undeclared"),
    parameters='{ storyshelf: { shots: ["blue", "never"] } }',
)
FAILING = replace(PLAYED, play="throw new Error('too early');" + PLAYED.play)


async def shot(stage: Set, name: str = "", story: str = "a--a") -> Picture:
    return await stage.shoot(story, order=replace(ORDER, look=Look(shot=name)))


def colour(picture: Picture) -> tuple[int, ...]:
    return pixel(decode(picture.png), 40, 30)


async def test_a_shot_ends_the_story_where_it_is_asked_for(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": PLAYED, "b--b": html(SQUARE)}))
    end, on_the_way = await shot(stage), await shot(stage, "blue")
    after = await shot(stage, story="b--b")
    fresh = await stage.shoot("a--a", order=replace(ORDER, look=Look(shot="blue")), page=Page.FRESH)
    assert (end.error, on_the_way.error, after.error) == (None, None, None)
    assert (colour(end), colour(on_the_way), colour(after)) == ((0, 255, 0), BLUE, RED)
    assert on_the_way.warnings == ()
    assert fresh.png == on_the_way.png


async def test_a_call_without_a_declaration_is_told_with_the_cure(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": PLAYED}))
    (warning,) = (await shot(stage)).warnings
    assert warning.code == "undeclared_shot"
    assert "shot('undeclared')" in warning.text
    assert "parameters.storyshelf.shots" in warning.text


async def test_a_shot_that_is_never_reached_is_an_error_of_its_own(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": PLAYED, "b--b": FAILING}))
    unreached, failed = await shot(stage, "never"), await shot(stage, "blue", "b--b")
    assert unreached.error == StoryError(
        ErrorCode.SHOT_NOT_REACHED,
        "the story came to its end without shot('never'); it reached 'blue', 'undeclared'",
        "",
    )
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == (ErrorCode.PLAY_FAILED, "too early")
