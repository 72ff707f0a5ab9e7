"""Put jobs on their lanes, with the start tags that make the lanes fair."""

import json
from collections.abc import Sequence

from sqlalchemy import text

from storyshelf.db.line import Fetches
from storyshelf.ids import JobId
from storyshelf.queue.job import NewJob

# One statement for one job or ten thousand. What forces its shape:
# - Ids are drawn first, because RETURNING of an insert that skips rows cannot say which input a
#   returned row came from.
# - A project's lane row is locked by the upsert, in order of (lane, class, project), so that two
#   transactions that enqueue on the same lanes cannot deadlock. After a wait the upsert sees the
#   newest last_tag, hence the arithmetic inside DO UPDATE.
# - The virtual time of a lane is its smallest ready tag, read without a lock; of an empty lane it
#   is the largest tag given, so that a claim need not write a shared row.
# - A batch takes consecutive tags: it stands in line once for each of its jobs.
# - Jobs of a project with a cap are parked, on the lanes of environments, where slots are dear; see
#   caps.py for how they are let in.
ENQUEUE = text("""
WITH asked AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('jobs', 'id')) AS id, a.*
    FROM unnest(
        CAST(:kinds AS text[]), CAST(:lanes AS text[]), CAST(:payloads AS text[]),
        CAST(:project_ids AS bigint[]), CAST(:build_ids AS bigint[]), CAST(:generations AS int[]),
        CAST(:priorities AS smallint[]), CAST(:dedupe_keys AS text[]),
        CAST(:max_attempts AS smallint[]), CAST(:delays_s AS float8[]),
        CAST(:request_ids AS text[]), CAST(:traceparents AS text[])
    ) WITH ORDINALITY AS a(
        kind, lane, payload, project_id, build_id, generation,
        priority, dedupe_key, max_attempts, delay_s, request_id, traceparent, place
    )
),
batch AS MATERIALIZED (
    SELECT lane, priority, coalesce(project_id, 0) AS project_id, count(*) AS jobs
    FROM asked
    GROUP BY 1, 2, 3
),
tagged AS (
    INSERT INTO lane_tags AS t (lane, priority, project_id, last_tag)
    SELECT b.lane, b.priority, b.project_id, v.tag + b.jobs - 1
    FROM batch AS b
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (
                SELECT j.fair_tag FROM jobs AS j
                WHERE j.state = 'queued' AND j.lane = b.lane AND j.priority = b.priority
                ORDER BY j.fair_tag LIMIT 1
            ),
            (
                SELECT max(l.last_tag) FROM lane_tags AS l
                WHERE l.lane = b.lane AND l.priority = b.priority
            ),
            1
        ) AS tag
    ) AS v
    ORDER BY b.lane, b.priority, b.project_id
    ON CONFLICT (lane, priority, project_id) DO UPDATE SET last_tag = greatest(
        excluded.last_tag,
        t.last_tag + (
            SELECT b.jobs FROM batch AS b
            WHERE b.lane = t.lane AND b.priority = t.priority AND b.project_id = t.project_id
        )
    )
    RETURNING lane, priority, project_id, last_tag
),
inserted AS (
    INSERT INTO jobs (
        id, kind, lane, payload, project_id, build_id, generation, priority, dedupe_key,
        max_attempts, request_id, traceparent, capped, state, run_at, enqueued_at, fair_tag
    )
    OVERRIDING SYSTEM VALUE
    SELECT
        a.id, a.kind, a.lane, CAST(a.payload AS jsonb), a.project_id, a.build_id, a.generation,
        a.priority, a.dedupe_key, a.max_attempts, a.request_id, a.traceparent,
        c.project_id IS NOT NULL,
        CASE
            WHEN a.delay_s > 0 THEN 'deferred'
            WHEN c.project_id IS NOT NULL THEN 'parked'
            ELSE 'queued'
        END,
        statement_timestamp() + make_interval(secs => a.delay_s),
        statement_timestamp(),
        t.last_tag - b.jobs + row_number() OVER (
            PARTITION BY a.lane, a.priority, coalesce(a.project_id, 0) ORDER BY a.place
        )
    FROM asked AS a
    JOIN batch AS b ON b.lane = a.lane AND b.priority = a.priority
        AND b.project_id = coalesce(a.project_id, 0)
    JOIN tagged AS t ON t.lane = a.lane AND t.priority = a.priority
        AND t.project_id = coalesce(a.project_id, 0)
    LEFT JOIN running_caps AS c ON c.project_id = a.project_id AND a.lane LIKE '%@%'
    ORDER BY a.place
    ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
    RETURNING id
)
SELECT i.id FROM asked AS a LEFT JOIN inserted AS i ON i.id = a.id ORDER BY a.place
""")


# The same for one job, as most enqueues are: there is no batch to be put in order.
ENQUEUE_ONE = text("""
WITH tagged AS (
    INSERT INTO lane_tags AS t (lane, priority, project_id, last_tag)
    SELECT CAST(:lane AS text), CAST(:priority AS smallint),
        coalesce(CAST(:project_id AS bigint), 0), coalesce(
        (
            SELECT j.fair_tag FROM jobs AS j
            WHERE j.state = 'queued' AND j.lane = CAST(:lane AS text)
                AND j.priority = CAST(:priority AS smallint)
            ORDER BY j.fair_tag LIMIT 1
        ),
        (
            SELECT max(l.last_tag) FROM lane_tags AS l
            WHERE l.lane = CAST(:lane AS text) AND l.priority = CAST(:priority AS smallint)
        ),
        1
    )
    ON CONFLICT (lane, priority, project_id) DO UPDATE
        SET last_tag = greatest(excluded.last_tag, t.last_tag + 1)
    RETURNING last_tag
)
INSERT INTO jobs (
    kind, lane, payload, project_id, build_id, generation, priority, dedupe_key, max_attempts,
    request_id, traceparent, capped, state, run_at, enqueued_at, fair_tag
)
SELECT
    CAST(:kind AS text), CAST(:lane AS text), CAST(CAST(:payload AS text) AS jsonb),
    CAST(:project_id AS bigint), CAST(:build_id AS bigint), CAST(:generation AS int),
    CAST(:priority AS smallint), CAST(:dedupe_key AS text), CAST(:max_attempts AS smallint),
    CAST(:request_id AS text), CAST(:traceparent AS text), c.project_id IS NOT NULL,
    CASE
        WHEN CAST(:delay_s AS float8) > 0 THEN 'deferred'
        WHEN c.project_id IS NOT NULL THEN 'parked'
        ELSE 'queued'
    END,
    statement_timestamp() + make_interval(secs => CAST(:delay_s AS float8)),
    statement_timestamp(), t.last_tag
FROM tagged AS t
LEFT JOIN running_caps AS c
    ON c.project_id = CAST(:project_id AS bigint) AND CAST(:lane AS text) LIKE '%@%'
ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
RETURNING id
""")


async def enqueue(tx: Fetches, jobs: Sequence[NewJob]) -> tuple[JobId | None, ...]:
    """Put the jobs on their lanes; their ids in input order, None where a live job has the key.

    The jobs appear with the caller's commit, or not at all; on a line they are there at once. To be
    called once in a transaction and last in it: it locks the lane rows of the projects, which are
    last in the lock order. A key that another open transaction is taking or giving back is waited
    for.
    """
    if not jobs:
        return ()
    ids = await _placed(tx, jobs)
    if any(job_id is not None for job_id in ids):
        tx.announce("work")
    return ids


async def _placed(tx: Fetches, jobs: Sequence[NewJob]) -> tuple[JobId | None, ...]:
    if len(jobs) > 1:
        return tuple(row.id for row in await tx.fetch(ENQUEUE, _columns(jobs)))
    found = await tx.fetch(ENQUEUE_ONE, _values(jobs[0]))
    return (found[0].id if found else None,)


def _values(job: NewJob) -> dict[str, object]:
    return {
        "kind": job.kind,
        "lane": job.lane,
        "payload": json.dumps(dict(job.payload)),
        "project_id": job.project_id,
        "build_id": job.build_id,
        "generation": job.generation,
        "priority": int(job.priority),
        "dedupe_key": job.dedupe_key,
        "max_attempts": job.max_attempts,
        "delay_s": job.delay.total_seconds(),
        "request_id": job.trace.request_id,
        "traceparent": job.trace.traceparent,
    }


def _columns(jobs: Sequence[NewJob]) -> dict[str, list[object]]:
    return {
        "kinds": [job.kind for job in jobs],
        "lanes": [job.lane for job in jobs],
        "payloads": [json.dumps(dict(job.payload)) for job in jobs],
        "project_ids": [job.project_id for job in jobs],
        "build_ids": [job.build_id for job in jobs],
        "generations": [job.generation for job in jobs],
        "priorities": [int(job.priority) for job in jobs],
        "dedupe_keys": [job.dedupe_key for job in jobs],
        "max_attempts": [job.max_attempts for job in jobs],
        "delays_s": [job.delay.total_seconds() for job in jobs],
        "request_ids": [job.trace.request_id for job in jobs],
        "traceparents": [job.trace.traceparent for job in jobs],
    }
