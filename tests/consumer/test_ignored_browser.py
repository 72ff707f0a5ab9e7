"""The boxes of what is not to be compared are those of the picture, wherever the content lies."""

from dataclasses import replace

import pytest

from consumer.messages import Box
from storyshelf.bundle.look import Crop, Look
from tests.consumer.conftest import ORDER, Opener
from tests.consumer.little_storybook import LittleStory, LittleStorybook, html

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# A square of 100 x 40 px at 116, 16, which is at 16, 16 of the picture of the content.
SQUARE = "<div style='margin: 100px; width: 100px; height: 40px; background: red'>{}</div>"
PART = "<div {} style='width: 50px; height: 20px; background: blue'></div>"
MARKS = ["class=chromatic-ignore", "data-chromatic=ignore", "data-storyshelf=ignore"]
IN_SHADOW = LittleStory(
    html(SQUARE.format("<span id=host></span>")).render
    + "root.querySelector('#host').attachShadow({ mode: 'open' }).innerHTML = "
    + f"`{PART.format('class=clock')}`;"
)
STORIES = {
    **{f"mark--{at}": html(SQUARE.format(PART.format(mark))) for at, mark in enumerate(MARKS)},
    "a--clock": html(SQUARE.format(PART.format("class=clock"))),
    "a--shadow": IN_SHADOW,
    "a--contents": html(
        SQUARE.format(f"<div class=clock style='display: contents'>{PART.format('')}</div>")
    ),
    "a--hidden": html(SQUARE.format("<p class=clock hidden>x</p>")),
}
BY_CLOCK = Look(ignored=(".clock",))


async def test_a_box_is_where_its_element_is_in_the_picture(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    found = {}
    for story in STORIES:
        look = BY_CLOCK if story.startswith("a--") else Look()
        picture = await stage.shoot(story, order=replace(ORDER, look=look))
        assert (picture.error, picture.warnings) == (None, ())
        found[story] = picture.ignored
    here = (Box(16, 16, 50, 20),)
    assert found == dict.fromkeys(STORIES, here) | {"a--hidden": ()}


async def test_a_box_follows_the_scale_and_the_part_that_is_shown(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    twice = await stage.shoot("a--clock", order=replace(ORDER, look=BY_CLOCK, scale=2.0))
    window = replace(BY_CLOCK, crop=Crop.VIEWPORT)
    whole = await stage.shoot("a--clock", order=replace(ORDER, look=window))
    assert twice.ignored == (Box(32, 32, 100, 40),)
    assert whole.ignored == (Box(116, 116, 50, 20),)


async def test_a_selector_that_is_none_is_told_and_the_others_are_followed(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    look = Look(ignored=("p[", ".clock"))
    picture = await stage.shoot("a--clock", order=replace(ORDER, look=look))
    (warning,) = picture.warnings
    assert (warning.code, "'p['" in warning.text) == ("bad_selector", True)
    assert picture.ignored == (Box(16, 16, 50, 20),)
