"""The statements on `lane_samples`: what was on each lane, minute by minute."""

import json
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.queue.store import LaneLoad

SAMPLE = text("""
INSERT INTO lane_samples (minute, lane, priority, queued, deferred, parked, running, oldest_s)
SELECT date_trunc('minute', statement_timestamp(), 'UTC'), lane, priority, queued, deferred, parked,
    running, extract(epoch FROM statement_timestamp() - oldest_at)
FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r(
    lane text, priority smallint, queued bigint, deferred bigint, parked bigint, running bigint,
    oldest_at timestamptz
)
ORDER BY lane, priority
ON CONFLICT (minute, lane, priority) DO UPDATE SET
    queued = excluded.queued, deferred = excluded.deferred, parked = excluded.parked,
    running = excluded.running, oldest_s = excluded.oldest_s
""")
FORGET_SAMPLES = text("""
DELETE FROM lane_samples
WHERE minute < date_trunc('minute', statement_timestamp(), 'UTC') - CAST(:kept AS interval)
""")


async def sample(tx: Tx, loads: Sequence[LaneLoad]) -> None:
    """Keep what is on the lanes as this minute's; a second sample of a minute replaces it."""
    rows = [
        {
            "lane": load.lane,
            "priority": load.priority,
            "queued": load.queued,
            "deferred": load.deferred,
            "parked": load.parked,
            "running": load.running,
            "oldest_at": load.oldest_at and load.oldest_at.isoformat(),
        }
        for load in loads
    ]
    await tx.execute(SAMPLE, {"rows": json.dumps(rows)})


async def forget_samples(tx: Tx, kept: timedelta) -> None:
    """Remove samples of minutes that began longer ago than that before this one."""
    await tx.execute(FORGET_SAMPLES, {"kept": kept})
