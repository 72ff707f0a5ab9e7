"""A trace in a real browser: of whatever story, and without a say in its picture."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from consumer.capture import tracing
from consumer.messages import ErrorCode, Page
from consumer.trace_file import rewritten
from tests.consumer.conftest import Opener
from tests.consumer.little_storybook import BOX, SQUARE, LittleStory, LittleStorybook, html

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

STORIES = {
    "a--slides": html(
        f"<style>@keyframes slide {{ to {{ margin-left: 90px }} }}</style>"
        f"<div style='{BOX} animation: slide 0.7s infinite'></div><input autofocus>"
    ),
    "b--thrown": LittleStory(f"root.innerHTML = `{SQUARE}`; throw new Error('of its own');"),
    "c--stuck": LittleStory("for (;;);"),
    "d--gone": LittleStory("location.href = 'http://elsewhere.example/';"),
}


def steps_in(trace: tracing.Trace) -> str:
    assert trace.missing == ""
    with ZipFile(BytesIO(rewritten(trace.content))) as opened:
        return "".join(opened.read(f"trace.{each}").decode() for each in ("trace", "network"))


async def test_a_trace_tells_of_every_story_and_changes_no_picture(opened: Opener) -> None:
    stage = await opened(LittleStorybook(STORIES))
    plain, traced = [
        await stage.shoot("a--slides", page=kind) for kind in (Page.FRESH, Page.TRACED)
    ]
    assert traced.png == plain.png
    assert plain.trace == tracing.NOT_ASKED
    assert "frame-snapshot" in steps_in(traced.trace)
    thrown = await stage.shoot("b--thrown", page=Page.TRACED)
    assert thrown.error is not None
    assert "of its own" in steps_in(thrown.trace)
    stuck = await stage.shoot("c--stuck", page=Page.TRACED, timeout_ms=4_000)
    assert stuck.error is not None
    assert "id=c--stuck" in steps_in(stuck.trace)
    gone = await stage.shoot("d--gone", page=Page.TRACED)
    assert gone.error is not None
    assert gone.error.code is ErrorCode.NAVIGATED_AWAY
    assert "id=d--gone" in steps_in(gone.trace)
    assert (await stage.shoot("a--slides")).png == plain.png


async def test_a_trace_that_is_too_large_is_told_and_not_sent(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "MAX_TRACE_BYTES", 1_000)
    stage = await opened(LittleStorybook(STORIES))
    shown = await stage.shoot("a--slides", page=Page.TRACED)
    assert (shown.error, shown.trace.content) == (None, b"")
    assert "one of more than 0 MiB is not kept" in shown.trace.missing
