"""Storybooks of other versions and frameworks, each captured whole: alike wherever it is shot."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from consumer.bundle_server import BundleServer
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.sitting import Picture
from consumer.messages import Page, WarningCode
from storyshelf.bundle.index import INDEX_NAMES, parse_index
from storyshelf.bundle.look import Look
from storyshelf.diff.png import decode
from storyshelf.storage.blobs import key_of
from tests.consumer.conftest import ORDER, BuiltStorybook, Set, opener_on
from tests.storybooks.books import LARGE, SMALL, Book, build_book
from tests.storybooks.expected_endings import Ending, Expected, endings_with

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(900),  # may have to wait for npm, which installs and builds
]

BOOKS = [
    pytest.param(SMALL, id=SMALL.name),
    *(pytest.param(book, id=book.name, marks=pytest.mark.long) for book in LARGE),
]
COMMON = "common-endings--"
SHORT_MS = 8_000  # for stories that use up whatever they get
DARK, GREEN = "#1d2b53", "#14a44d"


@asynccontextmanager
async def opened_book(
    book: Book, launched: tuple[BundleServer, LaunchedBrowser], root: Path
) -> AsyncIterator[Set]:
    async with opener_on(*launched, root) as opener:
        yield await opener(BuiltStorybook(build_book(book)))


async def shot(opened: Set, name: str, look: Look | None = None) -> Picture:
    order = replace(ORDER, look=look) if look else ORDER
    limit_ms = SHORT_MS if "never" in name else 30_000
    return await opened.shoot(name, order=order, timeout_ms=limit_ms)


def colours_of(png: bytes, asked: tuple[str, ...]) -> tuple[str, ...]:
    pixels = decode(png)[..., :3].reshape(-1, 3)
    wanted = {colour: np.frombuffer(bytes.fromhex(colour[1:]), np.uint8) for colour in asked}
    return tuple(name for name, rgb in wanted.items() if (pixels == rgb).all(axis=1).any())


def ended(row: Expected, picture: Picture) -> Expected:
    """What the row would have to say for this picture to be as it says."""
    message = picture.error.message if picture.error else ""
    return replace(
        row,
        ending=Ending.ERROR if picture.error else Ending.OK,
        code=picture.error.code.value if picture.error else "",
        message=row.message if row.message in message else message,
        warnings=tuple(warning.code.value for warning in picture.warnings),
        present=colours_of(picture.png, row.present) if row.present else (),
    )


@pytest.mark.parametrize("book", BOOKS)
async def test_a_book_ends_as_its_table_says_and_its_pictures_are_the_same_in_a_shared_page(
    book: Book, launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    rows = endings_with(book.parts)
    async with opened_book(book, launched, tmp_path) as opened:
        pictures = {story_id: await shot(opened, story_id) for story_id in rows}
        assert {name: ended(rows[name], each) for name, each in pictures.items()} == rows
        alike = {name: row.same_as for name, row in rows.items() if row.same_as}
        assert [a for a, b in alike.items() if pictures[a].png != pictures[b].png] == []
        quiet = [each for each, row in rows.items() if row.ending is Ending.OK and not row.warnings]
        shared = {name: await in_a_shared_page(opened, name, pictures[name]) for name in quiet}
    assert [name for name in quiet if shared[name].png != pictures[name].png] == []
    switched = [each for each in shared.values() if each.page is Page.SWITCHED]
    assert len(switched) >= len(quiet) // 2  # else nothing was shown of shared pages


async def in_a_shared_page(opened: Set, story_id: str, strict: Picture) -> Picture:
    order = replace(ORDER, baseline=key_of(strict.png))
    return await opened.shoot(story_id, order=order, page=Page.SWITCHED)


@pytest.mark.parametrize("book", BOOKS)
async def test_a_book_says_what_its_stories_ask_for_and_takes_globals_and_args(
    book: Book, launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    built = build_book(book)
    name = next(each for each in INDEX_NAMES if (built / each).is_file())
    index = parse_index((built / name).read_bytes(), name)
    async with opened_book(book, launched, tmp_path) as opened:
        read = await opened.studio.read_stories(30_000)
        dark = await shot(opened, f"{COMMON}static", Look(globals='{"theme": "dark"}'))
        light = await shot(opened, f"{COMMON}static")
        args = Look(args='{"text": "by its address"}')
        addressed = await shot(opened, f"{COMMON}with-args", args)
        other = await shot(opened, f"{COMMON}with-another-text")
    assert {story.story_id for story in index.stories} == set(endings_with(book.parts))
    asked = {str(story.story_id): story for story in read.stories}
    assert read.failed == ()
    assert asked[COMMON + "narrow"].storyshelf == {"viewports": [320, 1200]}
    assert asked[COMMON + "disabled"].chromatic == {"disableSnapshot": True}
    modes = {"light": {}, "dark/narrow": {"globals": {"theme": "dark"}, "viewport": 320}}
    assert asked[COMMON + "modes"].storyshelf == {"modes": modes}
    both = (DARK, GREEN)
    assert (colours_of(dark.png, both), colours_of(light.png, both)) == ((DARK,), (GREEN,))
    assert addressed.png == other.png
    assert WarningCode.EMPTY_ROOT not in {warning.code for warning in other.warnings}
