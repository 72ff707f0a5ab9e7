"""Thumbnails are kept in memory, and the oldest let go."""

import asyncio
from collections import Counter

import pytest

from storyshelf.diff.png_header import BadPngError
from storyshelf.ids import BlobKey
from storyshelf.web.thumbnails import AT_ONCE, Thumbnails
from tests.builds.hand import png_of


class Reader:
    """Counts how often each picture is read; a look in its key."""

    def __init__(self) -> None:
        self.reads: Counter[str] = Counter()

    async def __call__(self, key: BlobKey) -> bytes:
        self.reads[key] += 1
        return b"no picture" if key == "broken" else png_of(key)


async def test_a_picture_is_not_made_small_again_for_each_who_asks_meanwhile() -> None:
    thumbnails, read = Thumbnails(), Reader()
    key = BlobKey("red")
    found = await asyncio.gather(*(thumbnails.of(key, read) for _ in range(9)))
    assert len(set(found)) == 1
    assert read.reads["red"] <= AT_ONCE
    await thumbnails.of(key, read)
    assert read.reads["red"] <= AT_ONCE


async def test_what_was_asked_for_longest_ago_is_let_go() -> None:
    read = Reader()
    one = len(await Thumbnails().of(BlobKey("red"), read))
    thumbnails = Thumbnails(max_kept_bytes=one * 5 // 2)
    for look in ("red", "blue", "red", "grey", "red", "blue"):
        await thumbnails.of(BlobKey(look), read)
    assert read.reads == {"red": 2, "blue": 2, "grey": 1}


async def test_a_broken_picture_is_no_thumbnail_and_holds_up_nobody() -> None:
    thumbnails, read = Thumbnails(), Reader()
    for _ in range(3):
        with pytest.raises(BadPngError):
            await thumbnails.of(BlobKey("broken"), read)
    assert await thumbnails.of(BlobKey("red"), read)
