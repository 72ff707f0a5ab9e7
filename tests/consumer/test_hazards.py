"""The hazards of the field, in a Storybook that npm built: each ends as its row promises."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from consumer.bundle_server import BundleServer
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.sitting import Picture
from consumer.messages import Page, WarningCode
from storyshelf.bundle.look import ALWAYS, Animations, Look
from storyshelf.diff.png import decode
from tests.consumer.conftest import ORDER, BuiltStorybook, Set, opener_on
from tests.storybook_builds import build_hazards
from tests.storybooks.expected_endings import Ending, Expected, expected_endings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),  # of a page that never answers, every cap is waited to its end
]

NOT_YET = {"quiet of the network counted"}  # what rows need and we have not
CUT_PX = 16_384  # higher pages are shown up to here, with a warning
CALLED = {"resource_timeout": "image_timeout", "unstable": "unsettled"}  # the table's word: ours
DELAY_MS = 200  # of the stories that ask for one
ENDLESS = {"page_unresponsive", "play_timeout", "render_timeout"}
SHORT_MS = 14_000  # for stories that use up whatever they get
LONG_MS = 60_000
AT_START = Look(animations=Animations.START)  # of the story that asks for it
OURS = frozenset(code.value for code in WarningCode)
ROWS = {
    story_id: row
    for story_id, row in expected_endings().items()
    if row.ending is not Ending.SKIPPED and row.needs not in NOT_YET
}
AFTER = "hazards-leaks--after"  # shows what a story before it could have changed of the page
LEAKS = [each for each in ROWS if each.startswith("hazards-leaks--") and each != AFTER]
LOOK_ALIKE = {story_id: row.same_as for story_id, row in ROWS.items() if row.same_as}
AT_REST = [
    story_id
    for story_id, row in ROWS.items()
    if row.same_every_time and row.ending is Ending.OK and not row.warnings
    if story_id not in LEAKS
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hazards(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Set]:
    """The Storybook of hazards, open for all tests: each story meets what the last one left."""
    root: Path = tmp_path_factory.mktemp("blobs")
    async with opener_on(*launched, root) as opener:
        yield await opener(BuiltStorybook(build_hazards()))


@pytest.fixture(scope="module")
def taken() -> dict[str, Picture]:
    """Each story's first picture: what is only compared with another is not taken again."""
    return {}


async def first_shot(hazards: Set, taken: dict[str, Picture], story_id: str) -> Picture:
    if story_id not in taken:
        taken[story_id] = await shot(hazards, story_id)
    return taken[story_id]


async def shot(hazards: Set, story_id: str, page: Page = Page.SHARED) -> Picture:
    delay_ms = DELAY_MS if "delay" in story_id else 0
    limit_ms = SHORT_MS if ROWS[story_id].code in ENDLESS else LONG_MS
    look = AT_START if ROWS[story_id].needs == "pauseAnimationAtEnd" else ALWAYS
    order = replace(
        ORDER, viewport_width_px=1280, viewport_height_px=720, delay_ms=delay_ms, look=look
    )
    return await hazards.shoot(story_id, order=order, page=page, timeout_ms=limit_ms)


def words(codes: tuple[str, ...]) -> set[str]:
    """The warnings of a row that a capture can give, by our names."""
    return {CALLED.get(code, code) for code in codes} & OURS


def has_colour(png: bytes, colour: str) -> bool:
    pixels = decode(png)[..., :3]
    return bool((pixels == np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)).all(axis=2).any())


@pytest.mark.parametrize("story_id", [each for each in ROWS if each not in LEAKS])
async def test_each_hazard_ends_as_it_should(
    hazards: Set, taken: dict[str, Picture], story_id: str
) -> None:
    row, picture = ROWS[story_id], await first_shot(hazards, taken, story_id)
    assert (picture.error.code.value if picture.error else "") == row.code
    assert row.message in (picture.error.message if picture.error else "")
    warned = {warning.code.value for warning in picture.warnings}
    if "*" not in row.may_warn and not is_cut(row):
        assert words(row.warnings) <= warned <= words(row.warnings + row.may_warn)
    assert [colour for colour in row.absent if has_colour(picture.png, colour)] == []
    if not is_cut(row):
        assert [colour for colour in row.present if not has_colour(picture.png, colour)] == []
    assert row.height is None or picture.height_px == min(row.height, CUT_PX)


def is_cut(row: Expected) -> bool:
    return row.height is not None and row.height > CUT_PX


@pytest.mark.parametrize("story_id", LEAKS)
async def test_what_a_story_leaves_behind_is_gone_for_the_next(
    hazards: Set, taken: dict[str, Picture], story_id: str
) -> None:
    left, after = await shot(hazards, story_id), await shot(hazards, AFTER)
    assert (left.error, after.error) == (None, None)
    if AFTER not in taken:
        taken[AFTER] = await shot(hazards, AFTER, Page.FRESH)
    assert after.png == taken[AFTER].png


@pytest.mark.parametrize("story_id", LOOK_ALIKE)
async def test_stories_that_end_alike_look_alike(
    hazards: Set, taken: dict[str, Picture], story_id: str
) -> None:
    one = await first_shot(hazards, taken, story_id)
    other = await first_shot(hazards, taken, LOOK_ALIKE[story_id])
    assert one.png == other.png


@pytest.mark.parametrize("story_id", AT_REST)
async def test_a_fresh_page_shows_the_same(
    hazards: Set, taken: dict[str, Picture], story_id: str
) -> None:
    first = await first_shot(hazards, taken, story_id)
    assert first.png == (await shot(hazards, story_id, Page.FRESH)).png
