"""Watches what makes a queue slow: a transaction held open, and dead rows nobody clears away."""

from datetime import timedelta

import structlog

from storyshelf.db.engine import Database, Tx
from storyshelf.operations.alarm_store import raise_alarm
from storyshelf.queue import store as queue
from storyshelf.queue.store import Bloat, OldTransaction

OPEN_AFTER = timedelta(minutes=5)  # claims become several times slower by then under load
OLD_TRANSACTION = "old_transaction"  # the alarm's name
DEAD_PER_LIVE = 20
MANY_DEAD = 10_000  # fewer are read past in no time
AUTOVACUUM_COMES_WITHIN = timedelta(minutes=1)
VACUUM_WITHIN_S = 120.0
CLOSE_WITHIN_S = 5.0

log = structlog.get_logger(__name__)


def wants_vacuum(found: Bloat) -> bool:
    """Tell whether the table is mostly dead rows, and autovacuum stays away."""
    is_dead = found.dead_rows > max(MANY_DEAD, DEAD_PER_LIVE * found.live_rows)
    return is_dead and (found.vacuumed_ago is None or found.vacuumed_ago > AUTOVACUUM_COMES_WITHIN)


async def watch_bloat(tx: Tx, open_for: timedelta = OPEN_AFTER) -> Bloat:
    """Return how the table stands; a transaction that is open for that long raises the alarm."""
    found = await queue.bloat(tx)
    if found.oldest is not None and found.oldest.age > open_for:
        await raise_alarm(tx, OLD_TRANSACTION, _said(found.oldest))
        log.error("transaction.old", **_said(found.oldest))
    return found


async def vacuum_jobs(db: Database) -> None:
    """Vacuum the hot table, on a connection of its own: it cannot be done in a transaction."""
    connection = await db.direct_connection()
    try:
        await connection.execute("VACUUM jobs", timeout=VACUUM_WITHIN_S)
    finally:
        await connection.close(timeout=CLOSE_WITHIN_S)


def _said(oldest: OldTransaction) -> dict[str, object]:
    return {
        "pid": oldest.pid,
        "application": oldest.application,
        "state": oldest.state,
        "age_s": round(oldest.age.total_seconds()),
    }
