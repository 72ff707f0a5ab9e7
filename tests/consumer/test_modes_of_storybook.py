"""Modes and docs pages in a Storybook that npm built, whose preview is nobody's stand-in."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from consumer.bundle_server import BundleServer
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.sitting import Picture
from storyshelf.bundle.look import ALWAYS, Look
from storyshelf.diff.png import decode
from tests.consumer.conftest import ORDER, BuiltStorybook, Set, opener_on
from tests.consumer.little_storybook import pixel
from tests.storybook_builds import build_example

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),  # may have to wait for npm
]

BUTTON = "folio-button--primary"
DARK = Look(globals='{"theme": "dark"}')


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def folio(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Set]:
    """The example's Storybook, whose theme is a global."""
    async with opener_on(*launched, tmp_path_factory.mktemp("blobs")) as opener:
        yield await opener(BuiltStorybook(build_example()))


async def shot(folio: Set, story: str, look: Look = ALWAYS) -> Picture:
    picture = await folio.shoot(story, order=replace(ORDER, look=look))
    assert (picture.error, picture.warnings) == (None, ())
    return picture


async def test_a_global_is_there_when_the_story_renders(folio: Set) -> None:
    light, dark, again = (
        await shot(folio, BUTTON),
        await shot(folio, BUTTON, DARK),
        await shot(folio, BUTTON),
    )
    assert min(pixel(decode(light.png), 5, 5)) > 200
    assert max(pixel(decode(dark.png), 5, 5)) < 60
    assert again.png == light.png


async def test_args_are_there_when_the_story_renders(folio: Set) -> None:
    plain = await shot(folio, BUTTON)
    short = await shot(folio, BUTTON, Look(args='{"children": "#1 & ü"}'))
    assert short.width_px < plain.width_px


@pytest.mark.parametrize("page", ["welcome--docs", "folio-button--docs"])
async def test_a_docs_page_is_shown_in_full(folio: Set, page: str) -> None:
    picture = await shot(folio, page)
    assert picture.height_px > ORDER.viewport_height_px


async def test_stories_that_ask_for_nothing_send_nothing(folio: Set) -> None:
    read = await folio.studio.read_stories(30_000)
    asked = next(story for story in read.stories if story.story_id == BUTTON)
    assert (asked.storyshelf, asked.chromatic, read.failed) == ({}, {}, ())
