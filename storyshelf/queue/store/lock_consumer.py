"""Hold a consumer's row while somebody decides what to ask of it."""

from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.ids import ConsumerId
from storyshelf.queue.store.consumers import ConsumerState

LOCK = text("""
SELECT state FROM consumers
WHERE id = :id AND beat_at >= statement_timestamp() - make_interval(secs => :silent_s)
FOR UPDATE
""")


async def lock_consumer(
    tx: Tx, consumer_id: ConsumerId, silent_for: timedelta
) -> ConsumerState | None:
    """Return what a live consumer does, and keep that so until the commit; None: it has gone."""
    values = {"id": consumer_id, "silent_s": silent_for.total_seconds()}
    state = (await tx.execute(LOCK, values)).scalar_one_or_none()
    return None if state is None else ConsumerState(state)
