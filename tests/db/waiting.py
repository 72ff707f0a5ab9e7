"""Two transactions that meet: the fact that one of them has to wait."""

from sqlalchemy import text

from storyshelf.db.engine import Database

WAITING = text("""
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
""")


async def someone_waits(db: Database) -> None:
    """Return once a transaction waits for a lock that another one holds."""
    while True:
        async with db.transaction() as tx:
            if (await tx.execute(WAITING)).scalar_one():
                return
