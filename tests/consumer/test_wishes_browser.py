"""What a story may ask of its picture is seen in it."""

from dataclasses import replace

import pytest

from consumer.capture.sitting import Picture
from storyshelf.bundle.look import ALWAYS, Animations, Crop, Look
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

BOX = "width: 100px; height: 40px; background: {};"
AT_START = Look(animations=Animations.START)
SHORT_MS = 13_500  # leaves little to wait for what never comes
KEYFRAMES = "<style>@keyframes turn { from { background: red } to { background: blue } }</style>"
BLUE_IF = 'root.innerHTML = `<div style="' + BOX.format("${{{} ? 'blue' : 'red'}}") + '"></div>`;'
REVEALED = f"""
  root.innerHTML = `<div style="{BOX.format("red")} margin-bottom: 3000px"></div><p>end</p>`;
  const [box, end] = root.children;
  new IntersectionObserver(([seen]) => {{
    if (seen.isIntersecting && scrollY > 0) box.style.background = "blue";
  }}).observe(end);
"""
STORIES = {
    "a--square": html(SQUARE),
    "a--css": html(f"{KEYFRAMES}<div style='{BOX.format('lime')} animation: turn 1s both'></div>"),
    "a--late": html(
        f"{KEYFRAMES}<div style='{BOX.format('lime')} animation: turn 1s 9s infinite'></div>"
    ),
    "a--script": LittleStory(
        html(SQUARE).render
        + "root.firstChild.animate([{ background: 'red' }, { background: 'blue' }],"
        + " { duration: 1000, delay: 100, fill: 'both' });"
    ),
    "a--transition": LittleStory(
        html(f"<div style='{BOX.format('red')} transition: background 1s'></div>").render
        + "root.offsetHeight; root.firstChild.style.background = 'blue';"
    ),
    "a--clock": LittleStory(BLUE_IF.format("new Date().getFullYear() === 2031")),
    "a--now": LittleStory(BLUE_IF.format("Date.now() > Date.UTC(2025, 0)")),
    "a--tall": html("<div style='width: 700px; height: 900px; background: red'></div>"),
    "a--revealed": LittleStory(REVEALED),
    "a--scrolled": html(
        "<div style='width: 100px; height: 40px; overflow: auto; background: blue'>"
        "<div style='height: 400px; background: red'></div></div>"
    ),
    "a--slow": LittleStory(
        html(SQUARE).render
        + "setTimeout(() => { root.firstChild.id = 'here';"
        + " root.firstChild.style.background = 'blue'; }, 300);"
    ),
    "a--left-out": html(
        "<b data-storyshelf=remove>x</b><i data-visual-test=removed>x</i>"
        f"<div style='{BOX.format('red')}'><div data-storyshelf=mask style='width: 20px;"
        " height: 20px'>text</div></div>"
        f"<div style='{BOX.format('blue')}' data-storyshelf=transparent></div>"
        "<p style='margin: 0; width: 1px; height: 2px; background: red'></p>"
    ),
}


async def shot(stage: Set, story: str, look: Look = ALWAYS, timeout_ms: int = 30_000) -> Picture:
    order = replace(ORDER, look=look)
    picture = await stage.shoot(story, order=order, timeout_ms=timeout_ms)
    assert picture.error is None
    return picture


def colour(picture: Picture, x: int = 60, y: int = 40) -> tuple[int, ...]:
    return pixel(decode(picture.png), x, y)


async def test_animations_are_shown_at_their_end_or_at_their_start(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    stories = ("a--css", "a--late", "a--script", "a--transition")
    ends = [colour(await shot(stage, story)) for story in stories]
    starts = [colour(await shot(stage, story, AT_START)) for story in stories]
    lime = (0, 255, 0)
    assert ends == [BLUE, lime, BLUE, BLUE]
    assert starts == [RED, RED, RED, BLUE]
    assert colour(await shot(stage, "a--css")) == BLUE


async def test_the_clock_stands_where_it_is_asked_to_or_goes(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    asked = Look(time="1927857906000")
    clocks = [await shot(stage, "a--clock", look) for look in (ALWAYS, asked)]
    now = [await shot(stage, "a--now", look) for look in (ALWAYS, Look(time="real"))]
    assert [colour(picture) for picture in (*clocks, *now)] == [RED, BLUE, RED, BLUE]


async def test_the_picture_is_as_much_of_the_page_as_is_asked_for(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    looks = (ALWAYS, Look(padding_px=0), Look(padding_px=40), Look(crop=Crop.PAGE))
    small = [await shot(stage, "a--square", look) for look in looks]
    tall = await shot(stage, "a--tall", Look(crop=Crop.PAGE))
    sizes = [(each.width_px, each.height_px) for each in (*small, tall)]
    assert sizes == [(132, 72), (100, 40), (156, 96), (640, 360), (716, 932)]
    assert pixel(decode(small[1].png), 0, 0) == pixel(decode(small[3].png), 16, 16) == RED
    assert pixel(decode(small[3].png), 639, 359) == WHITE


async def test_a_page_is_scrolled_through_and_shown_from_its_top(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    plain, scrolled = [
        await shot(stage, "a--revealed", look) for look in (ALWAYS, Look(scrolls=True))
    ]
    assert (colour(plain), colour(scrolled)) == (RED, BLUE)
    assert plain.height_px == scrolled.height_px


async def test_an_element_is_waited_for_and_told_if_it_never_comes(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    waited = await shot(stage, "a--slow", Look(wait_for="#here"))
    assert (colour(waited), waited.warnings) == (BLUE, ())
    never, unread = [
        await shot(stage, "a--square", Look(wait_for=each), SHORT_MS) for each in ("#never", "p[")
    ]
    codes = [warning.code.value for picture in (never, unread) for warning in picture.warnings]
    assert codes == ["wait_timeout", "bad_selector"]


async def test_what_an_attribute_leaves_out_is_not_in_the_picture(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    picture = await shot(stage, "a--left-out")
    assert (picture.width_px, picture.height_px) == (132, 114)  # with the place of what is hidden
    assert colour(picture, 20, 20) == (0, 0, 0)
    assert colour(picture, 100, 20) == RED
    assert colour(picture, 60, 76) == WHITE


async def test_scrollbars_are_hidden_unless_they_are_asked_for(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    looks = (ALWAYS, Look(scrollbars=True), ALWAYS)
    edges = [colour(await shot(stage, "a--scrolled", look), 110, 30) for look in looks]
    assert edges[0] == edges[2] == RED
    assert edges[1] not in {RED, BLUE}
