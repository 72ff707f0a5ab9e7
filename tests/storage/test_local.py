"""Blobs in a folder: where they lie, and what a failing disk leaves behind."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

import pytest

from storyshelf.storage.blobs import FullStorageError, WrongContentError, key_of
from storyshelf.storage.local import INCOMING, LocalBlobs

CONTENT = b"a picture of a button"
KEY = key_of(CONTENT)


def full_disk(path: Path) -> IO[bytes]:
    """A file to which the kernel writes nothing, for want of space."""
    path.touch()
    return Path("/dev/full").open("wb")


def disk_without_sync(path: Path) -> IO[bytes]:
    """A file that takes everything, but cannot be synced."""
    path.touch()
    return Path("/dev/null").open("wb")


async def whole(content: bytes) -> AsyncIterator[bytes]:
    yield content


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_blob_lies_under_two_levels_of_its_hash(tmp_path: Path) -> None:
    await LocalBlobs(tmp_path).put(CONTENT)
    assert files_in(tmp_path) == [tmp_path / KEY[:2] / KEY[2:4] / KEY]


async def test_blobs_outlive_the_process_that_wrote_them(tmp_path: Path) -> None:
    await LocalBlobs(tmp_path).put(CONTENT)
    assert await LocalBlobs(tmp_path).read(KEY) == CONTENT


async def test_nobody_else_on_the_machine_may_look_into_the_folders(tmp_path: Path) -> None:
    blobs = tmp_path / "blobs"
    await LocalBlobs(blobs).put(CONTENT)
    folders = [blobs, *(path for path in blobs.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


async def test_a_finished_upload_leaves_nothing_among_the_incoming(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    await blobs.receive(KEY, len(CONTENT), whole(CONTENT))
    await blobs.receive(KEY, len(CONTENT), whole(CONTENT))
    assert files_in(tmp_path / INCOMING) == []


async def test_a_refused_upload_leaves_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(WrongContentError):
        await LocalBlobs(tmp_path).receive(KEY, len(CONTENT), whole(CONTENT[:-1]))
    assert files_in(tmp_path) == []


async def test_a_full_disk_is_named_and_nothing_is_kept(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path, full_disk)
    with pytest.raises(FullStorageError, match="Free disk space"):
        await blobs.put(CONTENT)
    with pytest.raises(FullStorageError) as caught:
        await blobs.receive(KEY, len(CONTENT), whole(CONTENT))
    assert str(tmp_path) not in str(caught.value)  # it is an uploader who reads this
    assert files_in(tmp_path) == []


async def test_what_could_not_be_synced_is_not_named(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path, disk_without_sync)
    with pytest.raises(OSError, match="Invalid argument"):
        await blobs.put(CONTENT)
    with pytest.raises(OSError, match="Invalid argument"):
        await blobs.receive(KEY, len(CONTENT), whole(CONTENT))
    assert files_in(tmp_path) == []
