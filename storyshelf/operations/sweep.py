"""Sweep blobs that nobody names any more: the rows first, then the files.

So a file may for a while be without a row, and is found by its age; a row is never without its
file. Two sweeps at once do no harm, but waste work: `alone` keeps them apart, and keeps a backup's
blobs where they are.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Protocol

import asyncpg

from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey
from storyshelf.storage import store
from storyshelf.storage.local_sweep import Freed

BLOBS_A_PAGE = 1_000  # of one short transaction
FIRST = BlobKey("")  # comes before every key
HELD = 0x5_70_72_79_01  # the advisory lock of who sweeps, or must not be swept under


class Removes(Protocol):
    """A blob storage that content can be removed from, while others write to it."""

    async def remove_untouched(self, keys: Collection[BlobKey], before: datetime) -> Freed:
        """Remove those of the blobs that nobody has touched since."""
        ...

    def untouched(self, before: datetime) -> AsyncIterator[Mapping[BlobKey, int]]:
        """Yield what is here and was not touched since, with sizes in bytes, in batches.

        Batches without anything are yielded too: they say that the search goes on.
        """
        ...

    async def end_unfinished(self, before: datetime) -> None:
        """End what processes that died have left half done."""
        ...


@asynccontextmanager
async def alone(db: Database) -> AsyncIterator["asyncpg.Connection[asyncpg.Record] | None"]:
    """Hold the lock of sweeping while the block lasts; None: somebody else has it.

    It is held by the connection that is handed out, which must live as long as the lock is needed.
    """
    connection = await db.direct_connection()
    try:
        is_ours = await connection.fetchval("SELECT pg_try_advisory_lock($1)", HELD)
        yield connection if is_ours else None
    finally:
        await connection.close()


async def sweep(
    db: Database, blobs: Removes, before: datetime, page_size: int = BLOBS_A_PAGE
) -> AsyncIterator[Freed]:
    """Remove what nobody names and nobody has used since; yields what each step has freed."""
    await blobs.end_unfinished(before)
    after: BlobKey | None = FIRST
    while after is not None:
        async with db.transaction() as tx:
            page = await store.unused(tx, after, before, page_size)
            taken = await store.take_unused(tx, page.sizes, before)
        yield await blobs.remove_untouched(taken, before)
        after = page.last
    async for strays in _strays(db, blobs, before):
        yield await blobs.remove_untouched(strays, before)


async def would_sweep(db: Database, blobs: Removes, before: datetime) -> AsyncIterator[Freed]:
    """Yield what a sweep would free, and change nothing."""
    after: BlobKey | None = FIRST
    while after is not None:
        async with db.transaction() as tx:
            page = await store.unused(tx, after, before, BLOBS_A_PAGE)
        yield Freed(len(page.sizes), sum(page.sizes.values()))
        after = page.last
    async for strays in _strays(db, blobs, before):
        yield Freed(len(strays), sum(strays.values()))


async def _strays(
    db: Database, blobs: Removes, before: datetime
) -> AsyncIterator[Mapping[BlobKey, int]]:
    """Yield files that no row stands for: a sweep, an upload or a capture ended in between."""
    async for sizes in blobs.untouched(before):
        if not sizes:
            yield sizes
        keys = list(sizes)
        for start in range(0, len(keys), BLOBS_A_PAGE):
            async with db.transaction() as tx:
                found = await store.without_row(tx, keys[start : start + BLOBS_A_PAGE])
            yield {key: sizes[key] for key in found}
