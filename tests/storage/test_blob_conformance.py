"""What every blob storage keeps to; the one in memory too, so that it may stand in for others."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from storyshelf.ids import BlobKey
from storyshelf.storage.blobs import Blobs, MissingBlobError, WrongContentError, key_of
from storyshelf.storage.local import LocalBlobs
from tests.fakes import MemoryBlobs
from tests.storage.here import is_here

CONTENT = b"a picture of a button"
KEY = key_of(CONTENT)
NOWHERE = BlobKey("0" * 64)


@pytest.fixture(params=["memory", "local"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return MemoryBlobs() if request.param == "memory" else LocalBlobs(tmp_path / "blobs")


async def in_pieces(content: bytes, size_bytes: int = 4) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size_bytes):
        yield content[start : start + size_bytes]


async def test_what_was_put_is_read_back_under_the_hash_of_its_bytes(blobs: Blobs) -> None:
    assert await blobs.put(CONTENT) == KEY
    assert await blobs.read(KEY) == CONTENT
    assert await is_here(blobs, KEY)


async def test_putting_it_again_changes_nothing(blobs: Blobs) -> None:
    assert [await blobs.put(CONTENT) for _ in range(2)] == [KEY, KEY]
    assert await blobs.read(KEY) == CONTENT


@pytest.mark.parametrize("content", [b"", b"\0", bytes(range(256)) * 4096])
async def test_any_content_is_kept_as_it_is(blobs: Blobs, content: bytes) -> None:
    assert await blobs.read(await blobs.put(content)) == content


async def test_two_contents_are_two_blobs(blobs: Blobs) -> None:
    one, other = await blobs.put(b"one"), await blobs.put(b"other")
    assert (await blobs.read(one), await blobs.read(other)) == (b"one", b"other")


async def test_content_arrives_in_pieces(blobs: Blobs) -> None:
    await blobs.receive(KEY, len(CONTENT), in_pieces(CONTENT))
    assert await blobs.read(KEY) == CONTENT


async def test_an_empty_content_arrives_in_no_piece(blobs: Blobs) -> None:
    await blobs.receive(key_of(b""), 0, in_pieces(b""))
    assert await blobs.read(key_of(b"")) == b""


async def test_content_that_is_here_already_may_arrive_again(blobs: Blobs) -> None:
    await blobs.put(CONTENT)
    await blobs.receive(KEY, len(CONTENT), in_pieces(CONTENT))
    assert await blobs.read(KEY) == CONTENT


async def test_two_receivers_of_one_key_both_succeed(blobs: Blobs) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(blobs.receive(KEY, len(CONTENT), in_pieces(CONTENT)))
    assert await blobs.read(KEY) == CONTENT


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (CONTENT[:-1], "20 of 21 bytes arrived"),
        (b"", "0 of 21 bytes arrived"),
        (CONTENT + b"!", "more than 21 bytes arrived"),
        (CONTENT[::-1], "its sha256 is"),
    ],
)
async def test_what_is_not_what_its_key_promises_is_refused_and_not_kept(
    blobs: Blobs, sent: bytes, problem: str
) -> None:
    with pytest.raises(WrongContentError, match=problem):
        await blobs.receive(KEY, len(CONTENT), in_pieces(sent))
    assert not await is_here(blobs, KEY)
    assert not await is_here(blobs, key_of(sent))


async def test_a_wrong_content_does_not_harm_the_right_one(blobs: Blobs) -> None:
    await blobs.put(CONTENT)
    with pytest.raises(WrongContentError):
        await blobs.receive(KEY, len(CONTENT), in_pieces(CONTENT[::-1]))
    assert await blobs.read(KEY) == CONTENT


async def test_reading_stops_at_the_first_byte_too_many(blobs: Blobs) -> None:
    taken: list[bytes] = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            taken.append(b"x" * 10)
            yield taken[-1]

    with pytest.raises(WrongContentError):
        await blobs.receive(KEY, len(CONTENT), endless())
    assert len(taken) == 3


async def test_a_sender_that_breaks_off_leaves_nothing(blobs: Blobs) -> None:
    with pytest.raises(ConnectionResetError):
        await blobs.receive(KEY, len(CONTENT), breaks_off([CONTENT[:4], CONTENT[4:]]))
    assert not await is_here(blobs, KEY)


async def breaks_off(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    raise ConnectionResetError


async def test_a_receiver_that_is_cancelled_leaves_nothing(blobs: Blobs) -> None:
    begun = asyncio.Event()

    async def stalls() -> AsyncIterator[bytes]:
        yield CONTENT[:4]
        begun.set()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        receiving = group.create_task(blobs.receive(KEY, len(CONTENT), stalls()))
        await begun.wait()
        receiving.cancel()
    assert receiving.cancelled()
    assert not await is_here(blobs, KEY)


async def test_what_is_not_here_is_an_error_that_names_it(blobs: Blobs) -> None:
    assert not await is_here(blobs, NOWHERE)
    with pytest.raises(MissingBlobError, match=NOWHERE):
        await blobs.read(NOWHERE)


async def test_content_is_placed_as_a_file(blobs: Blobs, tmp_path: Path) -> None:
    await blobs.put(CONTENT)
    await blobs.place(KEY, tmp_path / "button.png")
    assert (tmp_path / "button.png").read_bytes() == CONTENT


async def test_what_is_done_to_a_placed_file_does_not_reach_the_blob(
    blobs: Blobs, tmp_path: Path
) -> None:
    await blobs.put(CONTENT)
    await blobs.place(KEY, tmp_path / "button.png")
    (tmp_path / "button.png").write_bytes(b"spoilt")
    assert await blobs.read(KEY) == CONTENT


async def test_nothing_is_placed_over_what_is_there(blobs: Blobs, tmp_path: Path) -> None:
    await blobs.put(CONTENT)
    there = tmp_path / "there"
    there.write_bytes(b"mine")
    (tmp_path / "link").symlink_to(there)
    for target in (there, tmp_path / "link"):
        with pytest.raises(FileExistsError):
            await blobs.place(KEY, target)
    assert there.read_bytes() == b"mine"


async def test_what_is_not_here_is_not_placed(blobs: Blobs, tmp_path: Path) -> None:
    with pytest.raises(MissingBlobError):
        await blobs.place(NOWHERE, tmp_path / "button.png")
    assert not (tmp_path / "button.png").exists()


async def test_a_folder_that_is_missing_is_not_taken_for_a_missing_blob(
    blobs: Blobs, tmp_path: Path
) -> None:
    await blobs.put(CONTENT)
    with pytest.raises(FileNotFoundError):
        await blobs.place(KEY, tmp_path / "no" / "button.png")


@pytest.mark.parametrize(
    ("start", "size_bytes", "part"),
    [
        (0, 9, b"a picture"),
        (2, 7, b"picture"),
        (20, 1, b"n"),
        (15, 100, b"button"),
        (21, 5, b""),
        (40, 5, b""),
        (3, 0, b""),
    ],
)
async def test_a_part_is_read_from_where_it_starts_and_ends_with_the_content(
    blobs: Blobs, start: int, size_bytes: int, part: bytes
) -> None:
    await blobs.put(CONTENT)
    assert await blobs.read_part(KEY, start, size_bytes) == part


async def test_no_part_of_a_missing_blob_is_read(blobs: Blobs) -> None:
    with pytest.raises(MissingBlobError):
        await blobs.read_part(NOWHERE, 0, 1)


async def test_what_was_removed_is_gone(blobs: Blobs) -> None:
    await blobs.put(CONTENT)
    await blobs.remove(KEY)
    assert not await is_here(blobs, KEY)


async def test_removing_what_is_not_here_is_no_error(blobs: Blobs) -> None:
    await blobs.remove(NOWHERE)
    assert not await is_here(blobs, NOWHERE)


async def test_what_was_removed_can_be_put_again(blobs: Blobs) -> None:
    await blobs.put(CONTENT)
    await blobs.remove(KEY)
    await blobs.put(CONTENT)
    assert await blobs.read(KEY) == CONTENT
