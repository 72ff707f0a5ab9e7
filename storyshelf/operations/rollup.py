"""Makes hours of minutes and days of hours, and lets go of what is past its time."""

from datetime import timedelta

from storyshelf.db.engine import Database
from storyshelf.operations import metric_store
from storyshelf.operations.metric_store import Width

MINUTES_KEPT = timedelta(hours=48)  # to look back from Monday morning at what Saturday was like
HOURS_KEPT = timedelta(days=60)  # two months side by side; days, a few rows each, stay for ever
# A flush is an hour late at most (accumulator.MINUTES_KEPT), plus the time it is under way; an hour
# is made anew for as long as that may still change it, and a day for as long as its hours may.
LATE_FOR_HOURS = timedelta(hours=2)
LATE_FOR_DAYS = timedelta(days=1)
FLUSHES_KEPT = timedelta(hours=3)  # past the time in which one can be sent again
LOCK = 0x5_70_72_79_02  # the advisory lock of the one who rolls up


async def roll_up(db: Database) -> None:
    """Bring hours and days up to date; to be repeated as often as one likes.

    Each wide row is made anew of all its narrow ones, from before the newest wide one on, so that
    a pass that was missed, repeated or cut off changes nothing. If another process is at it, this
    one leaves it to that: of two at once the one that began earlier could write last.
    """
    async with db.transaction() as tx:
        if not await metric_store.is_alone(tx, LOCK):
            return
        await metric_store.roll_up(tx, Width.MINUTE, Width.HOUR, LATE_FOR_HOURS)
        await metric_store.roll_up(tx, Width.HOUR, Width.DAY, LATE_FOR_DAYS)
        await metric_store.forget(tx, Width.MINUTE, Width.HOUR, MINUTES_KEPT)
        await metric_store.forget(tx, Width.HOUR, Width.DAY, HOURS_KEPT)
        await metric_store.forget_flushes(tx, FLUSHES_KEPT)
