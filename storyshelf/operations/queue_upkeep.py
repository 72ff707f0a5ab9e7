"""What the queue needs so often: maintenance that waits is raised, and history is dropped."""

from datetime import timedelta

import structlog

from storyshelf.db.engine import Database
from storyshelf.operations import tick_store
from storyshelf.operations.bloat_watch import OPEN_AFTER, vacuum_jobs, wants_vacuum, watch_bloat
from storyshelf.queue import store as queue

OLD_AFTER = timedelta(minutes=10)  # then maintenance goes among the ordinary jobs
PROMOTED_AT_ONCE = 100  # of each lane: the next hundred follow with the next pass
FORGOTTEN_AT_ONCE = 1_000  # of one short transaction

log = structlog.get_logger(__name__)


async def look_after_queue(
    db: Database, waited: timedelta = OLD_AFTER, open_for: timedelta = OPEN_AFTER
) -> None:
    """Raise maintenance that has waited for long, and have an eye on what makes a queue slow."""
    async with db.transaction() as tx:
        raised = await queue.promote_old(tx, waited, limit=PROMOTED_AT_ONCE)
        found = await watch_bloat(tx, open_for)
    if raised:
        log.info("jobs.promoted", jobs=len(raised))
    if wants_vacuum(found):
        await vacuum_jobs(db)
        log.info("jobs.vacuumed", dead_rows=found.dead_rows, live_rows=found.live_rows)


async def forget_history(db: Database, kept: timedelta, page_size: int = FORGOTTEN_AT_ONCE) -> int:
    """Forget jobs that ended longer ago, their attempts, and ticks; return how many jobs went."""
    jobs, after = 0, 0
    while True:
        async with db.transaction() as tx:
            page = await queue.forget_ended(tx, kept, after=after, limit=page_size)
        jobs += page.jobs
        if page.last is None:
            break
        after = page.last
    async with db.transaction() as tx:
        await tick_store.forget_ticks(tx, kept)
    if jobs:
        log.info("jobs.forgotten", jobs=jobs)
    return jobs
