"""What a story asks of its picture, in a Storybook that npm built."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from consumer.bundle_server import BundleServer
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.sitting import Picture
from storyshelf.bundle.parameters import modes_of, parse_parameters
from storyshelf.diff.png import decode
from storyshelf.ids import StoryId
from tests.consumer.conftest import ORDER, BuiltStorybook, Set, opener_on
from tests.consumer.little_storybook import pixel
from tests.storybook_builds import build_hazards

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),  # may have to wait for npm
]

RED, PURPLE, GREEN = (0xD8, 0x1E, 0x3F), (0xB3, 0x00, 0x9E), (0x14, 0xA4, 0x4D)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hazards(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Set]:
    async with opener_on(*launched, tmp_path_factory.mktemp("blobs")) as opener:
        yield await opener(BuiltStorybook(build_hazards()))


async def pictures_of(hazards: Set, story_id: str) -> dict[str, Picture]:
    """Shoot a story as its own parameters ask, in each of its modes and shots."""
    read = await hazards.studio.read_stories(30_000)
    asked = next(story for story in read.stories if story.story_id == StoryId(story_id))
    wished = parse_parameters(asked.storyshelf, asked.chromatic)
    assert wished.warnings == ()
    return {
        mode.name: await hazards.shoot(story_id, order=replace(ORDER, look=mode.look))
        for mode in modes_of(wished.parameters)
    }


async def test_each_shot_shows_the_story_as_far_as_it_has_played(hazards: Set) -> None:
    pictures = await pictures_of(hazards, "hazards-wishes--shots")
    assert [picture.error for picture in pictures.values()] == [None] * 3
    colours = {name: pixel(decode(picture.png), 40, 30) for name, picture in pictures.items()}
    assert colours == {"default": GREEN, "before": RED, "half way": PURPLE}


async def test_what_is_ignored_is_told_with_the_picture(hazards: Set) -> None:
    (picture,) = (await pictures_of(hazards, "hazards-wishes--ignored")).values()
    assert [(box.width, box.height) for box in picture.ignored] == [(50, 20), (30, 10)]
