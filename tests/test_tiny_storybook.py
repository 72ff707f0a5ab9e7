"""The tiny Storybook against a real one: the same events in the same order, the same body."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from tests.storybook_builds import BUILD_DEADLINE_S, build_hazards
from tests.tiny_storybook import IndexVersion, TinyStory, many_stories, write_tiny_storybook

pytestmark = [pytest.mark.browser, pytest.mark.timeout(BUILD_DEADLINE_S)]

EVENTS = [
    "currentStoryWasSet",
    "storyPrepared",
    "storyThrewException",
    "playFunctionThrewException",
    "storyRendered",
    "storyFinished",
    "storyMissing",
]
RECORD = """
(() => {
  let channel;
  window.seen = [];
  Object.defineProperty(window, '__STORYBOOK_ADDONS_CHANNEL__', {
    get: () => channel,
    set: (made) => {
      channel = made;
      for (const name of EVENTS) made.on(name, () => window.seen.push(name));
    },
  });
})();
""".replace("EVENTS", json.dumps(EVENTS))
PATIENCE_MS = 15_000  # a story ends within one second unless the machine is crowded
OVER = "() => window.seen.some((name) => ['storyFinished', 'storyMissing'].includes(name))"
SELECT = """(ids) => {
  window.seen.length = 0;
  for (const storyId of ids) {
    window.__STORYBOOK_ADDONS_CHANNEL__.emit('setCurrentStory', { storyId, viewMode: 'story' });
  }
}"""
STATE = """() => [...document.body.classList].filter((name) => name.startsWith('sb-show-'))"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Nobody reads it."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/iframe.html"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=which("chromium-headless-shell"), args=["--no-sandbox"]
        )
        page = await browser.new_page()
        await page.add_init_script(RECORD)
        yield page
        await browser.close()


async def witnessed(page: Page, address: str, story_id: str) -> tuple[list[str], list[str]]:
    """Every event up to the end of the story, then how the body shows it."""
    await page.goto(f"{address}?id={story_id}&viewMode=story")
    await page.wait_for_function(OVER, timeout=PATIENCE_MS)
    return await page.evaluate("() => window.seen"), await page.evaluate(STATE)


COUNTERPARTS = {
    "hazards-failures--play-succeeds": TinyStory(play="await null"),
    "hazards-failures--throws-in-render": TinyStory(script="throw new Error('no')"),
    "hazards-failures--play-assertion-fails": TinyStory(play="throw new Error('no')"),
}


@pytest.mark.parametrize("story_id", [*COUNTERPARTS, "hazards-failures--no-such-story"])
async def test_a_story_ends_as_in_a_real_build(page: Page, tmp_path: Path, story_id: str) -> None:
    tiny = write_tiny_storybook(tmp_path, COUNTERPARTS)
    with served(build_hazards()) as real_address, served(tiny) as tiny_address:
        real = await witnessed(page, real_address, story_id)
        assert await witnessed(page, tiny_address, story_id) == real


async def heard(page: Page, address: str, story_ids: list[str]) -> list[str]:
    """What is heard when these are selected, one after the other, in the page of another story."""
    await witnessed(page, address, "hazards-failures--play-succeeds")
    await page.evaluate(SELECT, story_ids)
    await page.wait_for_function(OVER, timeout=PATIENCE_MS)
    events: list[str] = await page.evaluate("() => window.seen")
    return events


@pytest.mark.parametrize(
    "names",
    [["play-assertion-fails"], ["play-succeeds", "play-assertion-fails"], ["no-such-story"]],
    ids=["another", "the same, then another", "missing"],
)
async def test_a_selection_in_the_page_is_heard_as_in_a_real_build(
    page: Page, tmp_path: Path, names: list[str]
) -> None:
    tiny = write_tiny_storybook(tmp_path, COUNTERPARTS)
    ids = [f"hazards-failures--{name}" for name in names]
    with served(build_hazards()) as real_address, served(tiny) as tiny_address:
        assert await heard(page, tiny_address, ids) == await heard(page, real_address, ids)


async def test_a_thousand_stories_are_extracted_with_their_parameters(
    page: Page, tmp_path: Path
) -> None:
    stories = many_stories(999) | {"odd--one": TinyStory(parameters={"chromatic": {"delay": 9}})}
    with served(write_tiny_storybook(tmp_path, stories)) as address:
        await witnessed(page, address, "odd--one")
        extracted = await page.evaluate("() => window.__STORYBOOK_PREVIEW__.extract()")
    assert set(extracted) == set(stories)
    assert extracted["odd--one"]["parameters"] == {"chromatic": {"delay": 9}}


def test_the_older_index_is_marked_as_such(tmp_path: Path) -> None:
    folder = write_tiny_storybook(tmp_path, {"a--b": TinyStory()}, IndexVersion.V4)
    index = json.loads((folder / "index.json").read_text())
    assert (index["v"], index["entries"]["a--b"]["tags"]) == (4, ["story"])
