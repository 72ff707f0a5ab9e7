"""Sample how builds move; an alarm for shards that the queue had lost and that were sent again."""

from storyshelf.builds.sample_progress import sample_progress
from storyshelf.db.engine import Database
from storyshelf.operations import alarm_store

ALARM = "shards_dispatched_again"


async def progress(db: Database) -> int:
    """Sample the builds that are due; return how many of their shards were sent out again."""
    sent = await sample_progress(db)
    if sent:
        async with db.transaction() as tx:
            await alarm_store.raise_alarm(tx, ALARM, {"shards": sent}, times=sent)
    return sent
