"""Taking blobs out of a folder that others write to."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import INCOMING, LEAVING, LocalBlobs, blob_path
from storyshelf.storage.local_sweep import Freed, LocalSweeper
from tests.storage.here import is_here

CONTENT = b"a picture of a button"
KEY = key_of(CONTENT)
THEN_S = 1_000_000_000
SINCE = datetime.fromtimestamp(THEN_S + 1, UTC)
SIZE = Freed(1, len(CONTENT))


@pytest.fixture
def blobs(tmp_path: Path) -> LocalBlobs:
    return LocalBlobs(tmp_path)


@pytest.fixture
def sweeper(tmp_path: Path) -> LocalSweeper:
    return LocalSweeper(tmp_path)


async def an_old_blob(blobs: LocalBlobs, folder: Path) -> Path:
    path = blob_path(folder, await blobs.put(CONTENT))
    os.utime(path, (THEN_S, THEN_S))
    return path


async def test_what_nobody_has_touched_is_removed(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    await an_old_blob(blobs, tmp_path)
    assert await sweeper.remove_untouched([KEY], SINCE) == SIZE
    assert not await is_here(blobs, KEY)
    assert await sweeper.remove_untouched([KEY], SINCE) == Freed()


async def test_storing_content_again_touches_it(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    for store_again in (blobs.put(CONTENT), blobs.receive(KEY, len(CONTENT), whole(CONTENT))):
        await an_old_blob(blobs, tmp_path)
        await store_again
        assert await sweeper.remove_untouched([KEY], SINCE) == Freed()
        assert await is_here(blobs, KEY)


async def whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def test_what_was_touched_between_the_two_looks_is_put_back(
    blobs: LocalBlobs, tmp_path: Path
) -> None:
    path = await an_old_blob(blobs, tmp_path)

    class TouchedOnItsWay(LocalSweeper):
        def _let_go(self, aside: Path, before_s: float) -> Freed:
            os.utime(aside)  # as a writer does that found the file under its name just before
            return super()._let_go(aside, before_s)

    assert await TouchedOnItsWay(tmp_path).remove_untouched([KEY], SINCE) == Freed()
    assert path.read_bytes() == CONTENT


async def test_a_file_on_its_way_out_is_read_and_can_be_stored_again(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    path = await an_old_blob(blobs, tmp_path)
    path.rename(tmp_path / LEAVING / KEY)  # its sweeper was killed here
    assert await blobs.read(KEY) == CONTENT
    await blobs.place(KEY, tmp_path / "placed")
    await blobs.put(CONTENT)
    await sweeper.end_unfinished(SINCE)
    assert path.read_bytes() == CONTENT
    assert list((tmp_path / LEAVING).iterdir()) == []


async def test_what_a_killed_sweeper_left_goes_back_and_is_found_again(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    path = await an_old_blob(blobs, tmp_path)
    path.rename(tmp_path / LEAVING / KEY)
    await sweeper.end_unfinished(SINCE)
    assert [sizes async for sizes in sweeper.untouched(SINCE) if sizes] == [{KEY: len(CONTENT)}]


async def test_half_files_go_by_their_age(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    for name in ("old", "young"):
        (tmp_path / INCOMING / name).write_bytes(b"half")
    os.utime(tmp_path / INCOMING / "old", (THEN_S, THEN_S))
    await sweeper.end_unfinished(SINCE)
    assert [path.name for path in (tmp_path / INCOMING).iterdir()] == ["young"]


async def test_only_old_files_of_the_storage_are_listed(
    blobs: LocalBlobs, sweeper: LocalSweeper, tmp_path: Path
) -> None:
    path = await an_old_blob(blobs, tmp_path)
    path.with_name("stranger").write_bytes(b"")
    await blobs.put(b"young")
    assert [sizes async for sizes in sweeper.untouched(SINCE) if sizes] == [{KEY: len(CONTENT)}]
