"""A mode is seen in the picture: the window, the theme, the media, the language, the scale."""

from dataclasses import replace

import pytest

from consumer.capture.sitting import Picture
from consumer.messages import ErrorCode, Page
from storyshelf.bundle.look import ALWAYS, ColorScheme, Crop, ForcedColors, Look, Media, Motion
from storyshelf.diff.png import decode
from tests.consumer.conftest import ORDER, Opener, Set
from tests.consumer.little_storybook import (
    BLUE,
    RED,
    SQUARE,
    WHITE,
    LittleStory,
    LittleStorybook,
    html,
    pixel,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

IN_BLUE = "<div class=box></div><style>.box {{ width: 100px; height: 40px; background: red; {} }}"
SEEN = "const seen = {}; root.innerHTML = `<div style=\"width: 100px; height: 40px; background: ${{seen ? 'blue' : 'red'}}\"></div>`;"  # noqa: E501


def in_blue_if(condition: str) -> LittleStory:
    """Return a story of a box that is blue in the mode and red without."""
    return LittleStory(SEEN.format(condition))


def in_blue_in(query: str) -> LittleStory:
    return html(IN_BLUE.format("") + f"@media {query} {{ .box {{ background: blue; }} }}</style>")


async def shot(stage: Set, look: Look, story: str = "a--a", page: Page = Page.SHARED) -> Picture:
    picture = await stage.shoot(story, order=replace(ORDER, look=look), page=page)
    assert picture.error is None
    return picture


def colour(picture: Picture) -> tuple[int, ...]:
    return pixel(decode(picture.png), 40, 30)


MODES = [
    (in_blue_in("(prefers-color-scheme: dark)"), Look(color_scheme=ColorScheme.DARK)),
    (in_blue_in("(prefers-reduced-motion: no-preference)"), Look(motion=Motion.FREE)),
    (in_blue_in("print"), Look(media=Media.PRINT)),
    (
        in_blue_if("matchMedia('(forced-colors: active)').matches"),
        Look(forced_colors=ForcedColors.ACTIVE),
    ),
    (in_blue_if("context.globals.theme === 'dark #1'"), Look(globals='{"theme": "dark #1"}')),
    (in_blue_if("context.args.style?.tone === 'ü&b'"), Look(args='{"style": {"tone": "ü&b"}}')),
    (in_blue_if("(1234.5).toLocaleString() === '1.234,5'"), Look(locale="de-DE")),
    (in_blue_if("navigator.language === 'de-DE'"), Look(locale="de-DE")),
    (in_blue_if("new Date().getHours() === 21"), Look(time_zone="Asia/Tokyo")),
]


@pytest.mark.parametrize(("story", "look"), MODES, ids=[str(look.to_json()) for _, look in MODES])
async def test_a_mode_is_seen_and_gone_with_the_next_story(
    opened: Opener, story: LittleStory, look: Look
) -> None:
    stage = await opened(LittleStorybook({"a--a": story}))
    before = await shot(stage, ALWAYS)
    within = await shot(stage, look)
    after = await shot(stage, ALWAYS)
    assert colour(before) == RED
    assert colour(within) != RED  # forced colours are the system's own
    assert after.png == before.png


async def test_a_confirmation_sees_the_same_mode(opened: Opener) -> None:
    look = Look(locale="de-DE", color_scheme=ColorScheme.DARK, globals='{"theme": "dark"}')
    story = "context.globals.theme === 'dark' && matchMedia('(prefers-color-scheme: dark)').matches"
    stage = await opened(LittleStorybook({"a--a": in_blue_if(story)}))
    shared, fresh = await shot(stage, look), await shot(stage, look, page=Page.FRESH)
    assert colour(shared) == BLUE
    assert shared.png == fresh.png


async def test_a_story_renders_and_plays_once_in_a_mode(opened: Opener) -> None:
    counted = LittleStory(
        "window.renders = (window.renders ?? 0) + 1;"
        f"root.innerHTML = window.renders === 1 ? `{SQUARE}` : '';",
    )
    stage = await opened(LittleStorybook({"a--a": counted}))
    look = Look(globals='{"theme": "dark"}', args='{"label": "x"}')
    assert colour(await shot(stage, look)) == RED


async def test_a_viewport_is_what_the_story_is_laid_out_in(opened: Opener) -> None:
    wide = html("<div style='width: 50vw; height: 40px; background: red'></div>")
    stage = await opened(LittleStorybook({"a--a": wide}))
    order = replace(ORDER, viewport_width_px=320, viewport_height_px=568, scale=1.5)
    picture = await stage.shoot("a--a", order=order)
    assert (picture.width_px, picture.height_px) == (288, 108)  # 160 + 32 px, times 1.5


async def test_a_picture_may_be_of_the_window_alone(opened: Opener) -> None:
    tall = html("<div style='height: 2000px; background: red'></div>")
    stage = await opened(LittleStorybook({"a--a": html(SQUARE), "a--tall": tall}))
    small, large = [await shot(stage, Look(crop=Crop.VIEWPORT), each) for each in stage_ids()]
    assert {(each.width_px, each.height_px) for each in (small, large)} == {(640, 360)}
    assert pixel(decode(small.png), 600, 300) == WHITE
    assert pixel(decode(large.png), 300, 350) == RED


def stage_ids() -> tuple[str, str]:
    return "a--a", "a--tall"


async def test_a_place_that_the_browser_does_not_know_is_the_storys_error(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"a--a": html(SQUARE)}))
    nowhere = replace(ORDER, look=Look(time_zone="Mars/Olympus"))
    picture = await stage.shoot("a--a", order=nowhere)
    assert picture.error is not None
    assert picture.error.code is ErrorCode.CONFIG_FAILED
    assert colour(await shot(stage, ALWAYS)) == RED
