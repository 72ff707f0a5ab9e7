"""Stories that fail, hang, crash or leave: each is an error, and the next story works."""

import asyncio
from dataclasses import replace

import pytest

from consumer.capture import camera
from consumer.capture.deadline import CallDeadlineError
from consumer.messages import ErrorCode, Page, Stage, WarningCode
from storyshelf.diff.png import decode
from tests.consumer.conftest import Opener, Set
from tests.consumer.little_storybook import (
    ENDLESS,
    RED,
    SQUARE,
    LittleStory,
    LittleStorybook,
    html,
    pixel,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_a_render_error_is_told_and_shown(opened: Opener) -> None:
    stage = await opened(
        LittleStorybook({"bad--render": LittleStory("throw new TypeError('no data');")})
    )
    picture = await stage.shoot("bad--render")
    assert picture.error is not None
    assert (picture.error.code, picture.error.message) == (
        ErrorCode.RENDER_FAILED,
        "TypeError: no data",
    )
    assert "localhost" not in picture.error.stack
    assert "iframe.html" in picture.error.stack
    assert pixel(decode(picture.png), 600, 300) == (255, 221, 221)


async def test_an_error_after_the_story_was_called_done_counts(opened: Opener) -> None:
    late = LittleStory(
        f"root.innerHTML = `{SQUARE}`;"
        "requestAnimationFrame(() => fail('storyThrewException', new Error('in an effect')));"
    )
    stage = await opened(LittleStorybook({"bad--effect": late}))
    picture = await stage.shoot("bad--effect")
    assert picture.error is not None
    assert picture.error.message == "in an effect"


async def test_a_failed_play_function_is_an_error_with_the_storys_picture(opened: Opener) -> None:
    story = LittleStory(f"root.innerHTML = `{SQUARE}`;", play="throw new Error('expected 1');")
    stage = await opened(LittleStorybook({"bad--play": story}))
    picture = await stage.shoot("bad--play")
    assert picture.error is not None
    assert (picture.error.code, picture.error.message) == (ErrorCode.PLAY_FAILED, "expected 1")
    assert pixel(decode(picture.png), 60, 36) == RED


async def test_a_missing_story_is_called_missing(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"box--red": html(SQUARE)}))
    picture = await stage.shoot("box--blue")
    assert picture.error is not None
    assert picture.error.code is ErrorCode.MISSING_STORY


@pytest.mark.parametrize(
    ("story", "code"),
    [
        (ENDLESS, ErrorCode.RENDER_TIMEOUT),
        (
            LittleStory(f"root.innerHTML = `{SQUARE}`;", "await new Promise(() => {});"),
            ErrorCode.PLAY_TIMEOUT,
        ),
        (LittleStory("while (true) {}"), ErrorCode.PAGE_UNRESPONSIVE),
        (
            LittleStory("location.href = '/elsewhere.html'; await new Promise(() => {});"),
            ErrorCode.NAVIGATED_AWAY,
        ),
        (LittleStory("location.reload(); await new Promise(() => {});"), ErrorCode.NAVIGATED_AWAY),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_story_that_does_not_end_is_an_error_and_the_next_one_works(
    opened: Opener, story: LittleStory, code: ErrorCode
) -> None:
    files = {"elsewhere.html": b"<p>elsewhere"}
    stage = await opened(LittleStorybook({"bad--story": story, "box--red": html(SQUARE)}, files))
    bad = await stage.shoot("bad--story", timeout_ms=4_000)
    good = await stage.shoot("box--red")
    assert bad.error is not None
    assert bad.error.code is code
    assert (good.error, good.width_px) == (None, 132)


async def test_an_ending_that_is_known_is_told_though_its_picture_fails(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def take(*_: object) -> None:
        raise CallDeadlineError("the picture", 1)

    stage = await opened(LittleStorybook({"bad--endless": ENDLESS}))
    monkeypatch.setattr(camera, "take", take)
    picture = await stage.shoot("bad--endless", timeout_ms=4_000)
    assert picture.error is not None
    assert (picture.error.code, picture.png) == (ErrorCode.RENDER_TIMEOUT, b"")


async def test_a_page_that_reloads_itself_once_is_shot_with_the_worker_it_did_so_for(
    opened: Opener,
) -> None:
    worker = b"self.onfetch = (e) => { if (e.request.url.endsWith('/mocked'))"
    worker += b" e.respondWith(new Response('mocked')); };"
    render = (
        "await navigator.serviceWorker.register('/worker.js');"
        " await navigator.serviceWorker.ready;"
        " if (!navigator.serviceWorker.controller) { location.reload();"
        " await new Promise(() => {}); }"
        " root.textContent = await (await fetch('/mocked')).text();"
    )
    stories = {"a--mocked": LittleStory(render), "a--red": html(SQUARE)}
    stage = await opened(LittleStorybook(stories, {"worker.js": worker}))
    for page in (Page.SHARED, Page.FRESH, Page.SHARED):
        picture = await stage.shoot("a--mocked", page=page)
        assert (picture.error, picture.warnings) == (None, ())
    assert (await stage.shoot("a--red")).error is None


async def crash(stage: Set) -> None:
    """Let the page's process die, as one does that runs out of memory."""
    browser = await stage.browser.start()
    page = browser.contexts[0].pages[0]
    cdp = await page.context.new_cdp_session(page)
    async with page.expect_event("crash"):
        command = asyncio.ensure_future(cdp.send("Page.crash"))
    command.cancel()  # the dead do not answer


async def test_a_page_that_crashes_twice_is_an_error_and_the_next_story_works(
    opened: Opener,
) -> None:
    stage = await opened(LittleStorybook({"bad--story": ENDLESS, "box--red": html(SQUARE)}))

    async def crash_each_time(reached: Stage) -> None:
        if reached is Stage.RENDERING:
            await crash(stage)

    bad = await replace(stage, at_stage=crash_each_time).shoot("bad--story")
    good = await stage.shoot("box--red")
    assert bad.error is not None
    assert bad.error.code is ErrorCode.PAGE_CRASHED
    assert (good.error, good.width_px) == (None, 132)


async def test_a_page_that_crashes_once_is_tried_again(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"box--red": html(SQUARE)}))

    async def crash_once(reached: Stage) -> None:
        if reached is Stage.RENDERING and stage.stages.count(Stage.RENDERING) == 1:
            await crash(stage)

    picture = await replace(stage, at_stage=crash_once).shoot("box--red")
    assert (picture.error, picture.width_px) == (None, 132)
    assert Stage.RECOVERING in stage.stages


async def test_a_browser_that_was_killed_is_started_again(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"box--red": html(SQUARE)}))
    await stage.shoot("box--red")
    await stage.browser.stop()
    assert (await stage.shoot("box--red")).width_px == 132


async def test_dialogs_and_popups_are_closed_and_told(opened: Opener) -> None:
    loud = LittleStory(
        f"alert('hello'); window.open('/popup.html'); root.innerHTML = `{SQUARE}`;"
        "await new Promise((go) => setTimeout(go, 100));"
    )
    stage = await opened(LittleStorybook({"loud--story": loud}, {"popup.html": b"popup"}))
    picture = await stage.shoot("loud--story")
    assert picture.error is None
    codes = {warning.code for warning in picture.warnings}
    assert {WarningCode.DIALOG, WarningCode.POPUP} <= codes
    assert "alert: hello" in {warning.text for warning in picture.warnings}


async def test_a_file_that_is_missing_is_a_warning(opened: Opener) -> None:
    stage = await opened(
        LittleStorybook({"bad--image": html("<img src='gone.png' width=40 height=40>")})
    )
    picture = await stage.shoot("bad--image")
    assert picture.error is None
    (warning,) = picture.warnings
    assert warning.code is WarningCode.RESOURCE_FAILED
    assert warning.text == "404: gone.png"


async def test_half_a_character_in_a_dialog_does_no_harm(opened: Opener) -> None:
    loud = LittleStory(f"alert('a\\ud800b'); root.innerHTML = `{SQUARE}`;")
    stage = await opened(LittleStorybook({"loud--story": loud}))
    (warning,) = (await stage.shoot("loud--story")).warnings
    assert warning.text.encode() == "alert: a\N{REPLACEMENT CHARACTER}b".encode()


async def test_an_address_that_no_parser_likes_does_no_harm(opened: Opener) -> None:
    odd = LittleStory(
        f"root.innerHTML = `{SQUARE}`; await fetch('http://a%5b%5d.test/').catch(() => {{}});"
        "new WebSocket('ws://[::1]:1/x').onerror = () => {};"
    )
    stage = await opened(LittleStorybook({"odd--story": odd}))
    assert (await stage.shoot("odd--story")).error is None
