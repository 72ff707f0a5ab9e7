"""What a story writes to the console is kept for the reader: bounded, what went wrong first."""

import pytest

from consumer.capture.console import MAX_HEARD
from consumer.messages import MAX_CONSOLE_LINES, MAX_SHORT_TEXT, ConsoleLevel, ConsoleLine
from tests.consumer.conftest import Opener
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def saying(script: str) -> LittleStory:
    return LittleStory(f"{script}; root.innerHTML = `{SQUARE}`;")


async def said_by(opened: Opener, script: str) -> tuple[ConsoleLine, ...]:
    stage = await opened(LittleStorybook({"loud--story": saying(script)}))
    return (await stage.shoot("loud--story")).console


async def test_errors_come_first_then_warnings_then_the_rest(opened: Opener) -> None:
    script = (
        "console.log('one', 2); console.warn('a prop is old'); console.debug('fine');"
        "console.error('no data'); console.assert(false, 'never'); console.info('so')"
    )
    assert await said_by(opened, script) == (
        ConsoleLine(ConsoleLevel.ERROR, "no data"),
        ConsoleLine(ConsoleLevel.ERROR, "never"),
        ConsoleLine(ConsoleLevel.WARNING, "a prop is old"),
        ConsoleLine(ConsoleLevel.LOG, "one 2"),
        ConsoleLine(ConsoleLevel.DEBUG, "fine"),
        ConsoleLine(ConsoleLevel.INFO, "so"),
    )


async def test_a_story_that_never_stops_talking_is_cut_short(opened: Opener) -> None:
    talk = f"for (let n = 0; n < {10 * MAX_HEARD}; n++) console.log(n); console.error('late')"
    lines = await said_by(opened, talk)
    assert [line.text for line in lines] == [str(number) for number in range(MAX_CONSOLE_LINES)]


async def test_the_story_after_one_that_was_cut_short_is_heard_alone(opened: Opener) -> None:
    talk = f"for (let n = 0; n < {2 * MAX_HEARD}; n++) console.log('loud')"
    stories = {"loud--story": saying(talk), "soft--story": saying("console.log('soft')")}
    stage = await opened(LittleStorybook(stories))
    await stage.shoot("loud--story")
    assert [line.text for line in (await stage.shoot("soft--story")).console] == ["soft"]


async def test_a_line_is_cut_and_can_be_stored_whatever_is_in_it(opened: Opener) -> None:
    script = "console.log('x'.repeat(5000000)); console.log('a\\0b\\ud800', location.origin)"
    long, odd = await said_by(opened, script)
    assert long.text == "x" * MAX_SHORT_TEXT
    assert "\0" not in odd.text
    assert "localhost" not in odd.text
    odd.text.encode()


async def test_a_request_that_failed_is_told_once(opened: Opener) -> None:
    stage = await opened(LittleStorybook({"bad--image": saying("new Image().src = 'gone.png'")}))
    picture = await stage.shoot("bad--image")
    assert [warning.text for warning in picture.warnings] == ["404: gone.png"]
    assert picture.console == ()


async def test_200_megabytes_in_the_console_drown_nobody(opened: Opener) -> None:
    flood = "const line = 'x'.repeat(1e5); for (let n = 0; n < 2_000; n++) console.log(line)"
    stage = await opened(LittleStorybook({"loud--story": saying(flood)}))
    picture = await stage.shoot("loud--story")
    assert picture.error is None
    assert picture.console[0].text == "x" * MAX_SHORT_TEXT
