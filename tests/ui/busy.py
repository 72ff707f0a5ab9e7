"""A queue that has been worked for an hour, with everything that the operations page can say."""

from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.operations import alarm_store, leader_store
from storyshelf.operations.histogram import BUCKETS
from storyshelf.queue import store as queue
from storyshelf.queue.job import NewJob

METRICS = f"""
INSERT INTO job_metrics (
    width, start_at, kind, outcome, count, attempts, wait_ms, run_ms, wait_histogram, run_histogram
)
SELECT 'minute', date_trunc('minute', now()) - n * interval '1 minute', kind, outcome, times, times,
    0, 0,
    (SELECT array_agg(CASE WHEN b = 6 THEN times ELSE 0 END) FROM generate_series(1, {BUCKETS}) b),
    (SELECT array_agg(CASE WHEN b = 11 THEN times ELSE 0 END) FROM generate_series(1, {BUCKETS}) b)
FROM (
    SELECT n, kind, outcome, CASE outcome WHEN 'completed' THEN (n * 7 + 3) % 23 ELSE n / 40 END
        AS times
    FROM generate_series(1, 59) AS n,
        (VALUES ('capture', 'completed'), ('capture', 'retried'), ('deliver', 'completed'),
            ('deliver', 'failed'), ('plan', 'completed')) AS kinds (kind, outcome)
) AS ended
WHERE times > 0
"""


async def an_hour_of_work(db: Database) -> None:
    """Fill in figures, alarms, a leader, and jobs that wait for their time."""
    async with db.transaction() as tx:
        await tx.execute(text(METRICS))
        await alarm_store.raise_alarm(tx, "unserved:capture@lost", {"lane": "capture@lost"})
        await alarm_store.raise_alarm(tx, "something_new", {"note": "<b>hostile</b>"}, times=3)
        await leader_store.take_lead(tx, "node-7:4711:abc", timedelta(hours=1))
        later = NewJob("deliver", "deliver", {"delivery_id": 1}, delay=timedelta(minutes=5))
        await queue.enqueue(tx, [later])
