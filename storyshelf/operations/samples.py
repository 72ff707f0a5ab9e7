"""Notes each minute what is on the lanes."""

from datetime import timedelta

from storyshelf.db.engine import Database
from storyshelf.operations import sample_store
from storyshelf.queue import store as queue


async def sample_lanes(db: Database, keep: timedelta) -> None:
    """Sample depth and oldest age of each lane and class, and forget samples older than `keep`.

    No time at all keeps the newest sample alone. A second process in the same minute does no harm:
    its sample replaces the first.
    """
    async with db.transaction() as tx:
        await sample_store.sample(tx, await queue.lane_loads(tx))
        await sample_store.forget_samples(tx, keep)
