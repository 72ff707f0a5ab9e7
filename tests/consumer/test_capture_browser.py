"""What only a real browser can show: little stories, and the pictures that come of them."""

from dataclasses import replace

import numpy as np
import pytest

from consumer.messages import MAX_FRAMES, Page, Stage, WarningCode
from storyshelf.diff.png import decode
from storyshelf.snapshots.steadiness import Level
from storyshelf.storage.blobs import key_of
from tests.consumer.conftest import ORDER, Opener
from tests.consumer.little_storybook import (
    BLUE,
    BOX,
    RED,
    SQUARE,
    WHITE,
    LittleStory,
    LittleStorybook,
    html,
    pixel,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PORTAL = """
  root.innerHTML = "<div style='width: 50px; height: 20px; background: red'></div>";
  const portal = document.createElement("div");
  portal.style.cssText =
    "position: absolute; left: 300px; top: 200px; width: 60px; height: 30px; background: blue";
  document.body.append(portal);
"""
MOVING = {
    "css--endless": html(
        f"<style>@keyframes slide {{ to {{ margin-left: 90px }} }}</style>"
        f"<div style='{BOX} animation: slide 0.7s infinite'></div>"
    ),
    "script--waapi": LittleStory(
        f"root.innerHTML = `{SQUARE}`;"
        "root.firstChild.animate("
        "[{ marginLeft: 0 }, { marginLeft: '90px' }], { duration: 700, iterations: Infinity });"
    ),
    "svg--smil": html(
        "<svg width='200' height='40'><rect width='40' height='40' fill='red'>"
        "<animate attributeName='x' from='0' to='160' dur='0.7s' repeatCount='indefinite'/>"
        "</rect></svg>"
    ),
    "time--now": LittleStory(
        "const said = new Intl.DateTimeFormat('en', { timeStyle: 'full' }).format();"
        "root.textContent = `${Date.now()} ${new Date().toISOString()} ${said}`;"
    ),
    "chance--drawn": LittleStory(
        "const drawn = crypto.getRandomValues(new Uint8Array(4));"
        "root.textContent = `${Math.random()} ${crypto.randomUUID()} ${drawn}`;"
    ),
    "caret--blinking": LittleStory(
        "root.innerHTML = '<input autofocus>'; root.firstChild.focus();"
    ),
}


async def test_the_picture_is_the_contents_box_with_a_margin(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"box--red": html(SQUARE)}))
    picture = await stage.shoot("box--red")
    pixels = decode(picture.png)
    assert (picture.width_px, picture.height_px, picture.error) == (132, 72, None)
    assert [pixel(pixels, 15, 36), pixel(pixels, 16, 16), pixel(pixels, 115, 55)] == [
        WHITE,
        RED,
        RED,
    ]
    assert stage.stages == [Stage.OPENING, Stage.RENDERING, Stage.SETTLING, Stage.SHOOTING]


async def test_the_scale_multiplies_the_pixels_and_not_the_layout(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"box--red": html(SQUARE)}))
    picture = await stage.shoot("box--red", order=replace(ORDER, scale=2.0))
    assert (picture.width_px, picture.height_px) == (264, 144)


RESTS = """
  const { readiness } = window.__storyshelf__;
  const settle = () => readiness.settle({ fontsMs: 500, imagesMs: 500, quietMs: 50, restMs: 500 });
  const settled = () => Promise.race([
    settle().then(() => "at once"),
    new Promise((tell) => setTimeout(() => tell("later"))),
  ]);
  root.textContent = "first";
  (async () => {
    await settle();
    await settle();
    const untouched = await settled();
    root.textContent = "second";
    console.log(`untouched ${untouched}, changed ${await settled()}`);
  })();
"""


async def test_what_is_at_rest_is_waited_for_again_only_once_it_has_changed(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"text--twice": LittleStory(RESTS)}))
    picture = await stage.shoot("text--twice")
    assert [line.text for line in picture.console] == ["untouched at once, changed later"]


async def test_a_portal_belongs_to_the_picture(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"portal--open": LittleStory(PORTAL)}))
    picture = await stage.shoot("portal--open")
    assert (picture.width_px, picture.height_px) == (376, 246)
    assert pixel(decode(picture.png), 330, 215) == BLUE


async def test_a_modal_dialog_is_shown_over_the_whole_window(opened: Opener) -> None:
    dialog = LittleStory("root.innerHTML = '<dialog>Sure?</dialog>'; root.firstChild.showModal();")
    stage = await opened(LittleStorybook({"dialog--open": dialog}))
    picture = await stage.shoot("dialog--open")
    assert (picture.width_px, picture.height_px) == (640, 360)


async def test_a_shadow_roots_content_is_measured(opened: Opener) -> None:
    shadow = LittleStory(
        "root.innerHTML = '<x-box style=\"display: inline-block; height: 40px\"></x-box>';"
        f"root.firstChild.attachShadow({{ mode: 'open' }}).innerHTML = \"{SQUARE}\";"
    )
    stage = await opened(LittleStorybook({"shadow--box": shadow}))
    picture = await stage.shoot("shadow--box")
    assert (picture.width_px, picture.height_px) == (132, 72)


async def test_tall_content_is_shown_in_full(opened: Opener) -> None:
    body = (
        "<div style='height: 2000px; background: red'></div>"
        "<div style='height: 40px; background: blue'></div>"
    )
    stage = await opened(LittleStorybook({"tall--page": html(body)}))
    picture = await stage.shoot("tall--page")
    assert (picture.height_px, picture.warnings) == (2072, ())
    assert pixel(decode(picture.png), 320, 2030) == BLUE


async def test_content_as_tall_as_the_window_does_not_grow_with_it(opened: Opener) -> None:
    body = (
        "<div style='height: 100vh; background: red'></div>"
        "<div style='height: 1000px; background: blue'></div>"
    )
    stage = await opened(LittleStorybook({"vh--page": html(body)}))
    picture = await stage.shoot("vh--page")
    pixels = decode(picture.png)
    assert picture.height_px == 16 + 360 + 1000 + 16
    assert [pixel(pixels, 320, 370), pixel(pixels, 320, 380)] == [RED, BLUE]


async def test_content_beside_the_window_is_shown_without_a_new_layout(opened: Opener) -> None:
    body = "<div style='width: 1500px; height: 40px; background: red'></div>"
    stage = await opened(LittleStorybook({"wide--page": html(body)}))
    picture = await stage.shoot("wide--page")
    assert picture.width_px == 1516
    assert pixel(decode(picture.png), 1510, 30) == RED


async def test_a_page_beyond_the_caps_is_cut_and_says_so(opened: Opener) -> None:
    body = "<div style='width: 300px; height: 30000px; background: red'></div>"
    stage = await opened(LittleStorybook({"endless--page": html(body)}))
    picture = await stage.shoot("endless--page")
    assert picture.height_px == 16_384
    assert [warning.code for warning in picture.warnings] == [WarningCode.CLIPPED]
    assert pixel(decode(picture.png), 100, 16_383) == RED


async def test_a_story_that_draws_nothing_is_shown_as_the_window(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"nothing--here": LittleStory("")}))
    picture = await stage.shoot("nothing--here")
    assert (picture.width_px, picture.height_px, picture.error) == (640, 360, None)
    assert [warning.code for warning in picture.warnings] == [WarningCode.EMPTY_ROOT]


@pytest.mark.parametrize("story", MOVING)
async def test_what_moves_is_the_same_in_every_page(opened: Opener, story: str) -> None:
    stage = await opened(LittleStorybook(MOVING))
    pages = (Page.SHARED, Page.FRESH, Page.SHARED)
    pictures = [await stage.shoot(story, page=page) for page in pages]
    assert len({picture.png for picture in pictures}) == 1
    assert pictures[0].error is None


LOOPS = """
  root.innerHTML = "<canvas width=90 height=80></canvas>".repeat(4);
  const pens = Array.from(root.children, (each) => each.getContext("2d"));
  const draw = (row, at) => {
    pens[row].clearRect(0, 0, 90, 80);
    pens[row].fillRect(at % 80, 5, 9, 9);
    pens[row].fillText(String(at), 5, 40);
  };
  let turns = 0;
  const counted = () => { draw(0, ++turns); requestAnimationFrame(counted); };
  counted();
  const told = (now) => { draw(1, now); requestAnimationFrame(told); };
  requestAnimationFrame(told);
  const since = performance.now();
  const asked = () => { draw(2, performance.now() - since); requestAnimationFrame(asked); };
  requestAnimationFrame(asked);
  let awaited = 0;
  (async () => { for (;;) { await new Promise(requestAnimationFrame); draw(3, ++awaited); } })();
"""
# As a library that draws in a task of its own, and asks for the next frame there.
RENDERED = f"""
  root.innerHTML = `{SQUARE}`;
  const {{ port1, port2 }} = new MessageChannel();
  let rendered = 0;
  port1.onmessage = () => requestAnimationFrame(() => {{
    root.firstChild.style.marginLeft = `${{++rendered}}px`;
    port2.postMessage(0);
  }});
  port2.postMessage(0);
"""


async def test_a_loop_that_draws_for_ever_is_held_at_the_same_turn_in_every_page(
    opened: Opener,
) -> None:
    stories = {"loops--four": LittleStory(LOOPS), "loops--rendered": LittleStory(RENDERED)}
    stage = await opened(LittleStorybook(stories))
    for story in stories:
        pages = (Page.SHARED, Page.FRESH, Page.SHARED)
        shot = [await stage.shoot(story, page=page) for page in pages]
        assert len({picture.png for picture in shot}) == 1, story
        assert [(one.level, one.shots, one.warnings) for one in shot] == [(Level.PAIR, 2, ())] * 3


async def test_an_animation_by_frames_is_shown_at_its_end_and_one_frame_may_fail(
    opened: Opener,
) -> None:
    body = (
        f"root.innerHTML = `{SQUARE}`; const since = performance.now();"
        "requestAnimationFrame(() => { throw new Error('one of them'); });"
        "const grow = (now) => { const part = Math.min(1, (now - since) / 2500);"
        " root.firstChild.style.width = `${100 + 100 * part}px`;"
        " if (part < 1) requestAnimationFrame(grow); }; requestAnimationFrame(grow);"
        "let waits = 0; const wait = setInterval(() => { waits += performance.now() - since > 40;"
        " if (waits) { clearInterval(wait); root.firstChild.style.height = '50px'; } }, 10);"
        "await new Promise((go) => setTimeout(go, 150));"
    )
    stage = await opened(LittleStorybook({"growing--box": LittleStory(body)}))
    picture = await stage.shoot("growing--box")
    assert (picture.width_px, picture.height_px, picture.error) == (232, 82, None)


HOPS = (
    "root.innerHTML = `<canvas width=90 height=40></canvas>`; let at = 0;"
    "const pen = root.firstChild.getContext('2d');"
    "const hop = () => { pen.clearRect(0, 0, 90, 40); pen.fillRect(at++ % 80, 5, 9, 9); };"
)
STEADINESS = LittleStorybook(
    {
        "box--red": html(SQUARE),
        "hopping--ever": LittleStory(f"{HOPS} setInterval(hop, 7);"),
        "hopping--a-while": LittleStory(
            f"{HOPS} const hops = setInterval(hop, 7);"
            " setTimeout(() => fetch('late.txt').then(() => clearInterval(hops)), 300);"
        ),
    },
    {"late.txt": b"enough"},
)


async def test_no_more_is_done_to_see_a_story_hold_still_than_it_needs(opened: Opener) -> None:
    stage = await opened(STEADINESS)
    box = await stage.shoot("box--red")
    assert (box.level, box.shots) == (Level.PAIR, 2)
    as_before = replace(ORDER, baseline=key_of(box.png))
    again = await stage.shoot("box--red", order=as_before)
    assert (again.level, again.shots, again.png) == (Level.FIRST, 1, box.png)
    again = await stage.shoot("box--red", order=replace(as_before, level=Level.AGAIN))
    assert (again.level, again.shots, again.png) == (Level.AGAIN, 1, box.png)
    late = await stage.shoot("hopping--a-while")
    assert (late.level, late.frames, late.warnings) == (Level.AGAIN, (), ())
    ever = await stage.shoot("hopping--ever")
    assert ever.level is Level.NEVER
    assert len({*ever.frames, ever.png}) == 1 + MAX_FRAMES
    assert [warning.code for warning in ever.warnings] == [WarningCode.UNSETTLED]


async def test_an_entrance_animation_is_shown_at_its_end(opened: Opener) -> None:
    body = (
        "<style>@keyframes enter { from { opacity: 0 } }</style>"
        f"<div style='{BOX} animation: enter 3s 1s both'></div>"
    )
    stage = await opened(LittleStorybook({"enter--slowly": html(body)}))
    picture = await stage.shoot("enter--slowly")
    assert pixel(decode(picture.png), 60, 36) == RED


async def test_an_update_that_is_debounced_by_the_clock_still_comes(opened: Opener) -> None:
    """The usual debounce reads the clock again when its timer fires."""
    debounced = LittleStory(
        "const calledAt = Date.now();"
        "const fire = () => {"
        f" if (Date.now() - calledAt >= 30) root.innerHTML = `{SQUARE}`; else setTimeout(fire, 30);"
        "}; setTimeout(fire, 30); await new Promise((go) => setTimeout(go, 90));"
    )
    stage = await opened(LittleStorybook({"debounced--box": debounced}))
    picture = await stage.shoot("debounced--box")
    assert (picture.width_px, picture.error) == (132, None)


async def test_a_loop_that_waits_for_the_clock_ends(opened: Opener) -> None:
    busy = LittleStory(
        f"const since = Date.now(); while (Date.now() - since < 50); root.innerHTML = `{SQUARE}`;"
    )
    stage = await opened(LittleStorybook({"busy--box": busy}))
    assert (await stage.shoot("busy--box")).width_px == 132


async def test_a_late_image_is_waited_for(opened: Opener) -> None:
    late = LittleStory(
        "root.innerHTML = '<img loading=lazy style=\"margin-top: 900px\" src=late.svg>';"
    )
    svg = (
        b"<svg xmlns='http://www.w3.org/2000/svg' width='80' height='60'>"
        b"<rect width='80' height='60' fill='blue'/></svg>"
    )
    stage = await opened(LittleStorybook({"late--image": late}, {"late.svg": svg}))
    picture = await stage.shoot("late--image")
    pixels = decode(picture.png)
    assert np.count_nonzero((pixels[..., :3] == BLUE).all(axis=2)) == 80 * 60


async def test_a_storys_own_delay_is_waited(opened: Opener) -> None:
    delayed = LittleStory(
        f"root.textContent = 'soon'; setTimeout(() => {{ root.innerHTML = `{SQUARE}`; }}, 300);"
    )
    stage = await opened(LittleStorybook({"delayed--box": delayed}))
    picture = await stage.shoot("delayed--box", order=replace(ORDER, delay_ms=400))
    assert (picture.width_px, picture.height_px) == (132, 72)


async def test_stories_do_not_meet_in_the_storage(opened: Opener) -> None:
    writes = (
        "localStorage.setItem('a', 1); sessionStorage.setItem('b', 2);"
        "document.cookie = 'c=3'; window.name = 'd';"
    )
    reads = (
        "root.textContent = JSON.stringify("
        "[localStorage.length, sessionStorage.length, document.cookie, window.name]);"
    )
    draws = f"{reads} {writes} root.style.width = '200px';"
    stage = await opened(
        LittleStorybook({"a--one": LittleStory(draws), "a--two": LittleStory(draws)})
    )
    first, second = await stage.shoot("a--one"), await stage.shoot("a--two")
    assert first.png == second.png


async def test_no_page_sees_a_binding_of_the_driver(opened: Opener) -> None:
    looks = LittleStory("root.textContent = String('__playwright__binding__' in window);")
    says = LittleStory("root.textContent = 'false';")
    stage = await opened(LittleStorybook({"a--looks": looks, "a--says": says}))
    assert (await stage.shoot("a--looks")).png == (await stage.shoot("a--says")).png
