"""A content whose file is gone from the storage is sent again by the next upload that names it."""

from pathlib import Path
from typing import Any, cast

import pytest

from consumer.kinds.lost_content import noting_lost_content
from storyshelf.builds import store
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey
from storyshelf.queue.job_kind import Work
from storyshelf.storage.blobs import MissingBlobError
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import Hand, a_hand

STORIES = ["a--one"]
NOTHING = cast("Work", None)  # no handler here asks anything of its attempt


async def missing_of_a_new_build(hand: Hand) -> tuple[BlobKey, ...]:
    build = await hand.open(STORIES)
    async with hand.db.transaction() as tx:
        return await store.missing_files(tx, build)


async def test_what_a_handler_missed_is_missing_for_the_next_upload(
    db: Database, tmp_path: Path
) -> None:
    blobs = LocalBlobs(tmp_path / "blobs")
    hand = await a_hand(db, blobs)
    await hand.upload(STORIES)
    lost = (await hand.files_of(STORIES))[0].sha256
    await blobs.remove(lost)

    async def reads(work: Work, parsed: Any) -> bytes:
        return await blobs.read(lost)

    assert await missing_of_a_new_build(hand) == ()
    with pytest.raises(MissingBlobError, match="--force-rebuild"):
        await noting_lost_content(db, reads)(NOTHING, None)
    assert await missing_of_a_new_build(hand) == (lost,)


async def test_what_a_handler_returns_comes_back(db: Database) -> None:
    async def works(work: Work, parsed: Any) -> str:
        return f"did {parsed}"

    assert await noting_lost_content(db, works)(NOTHING, "it") == "did it"
