"""All SQL of builds' progress: which are due to be sampled, what is counted, the samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, text

from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ShardId
from storyshelf.shards.eta import WINDOW_COMPLETIONS, Eta, PastDurations
from storyshelf.shards.sampling import FLOOR, Standing

COMPLETIONS_READ = 10 * WINDOW_COMPLETIONS  # a fast build finishes more than 20 in a minute
LOST_READ = 200  # shards of one build and pass; the rest is found by the next

# Times are told as of the database's clock: `now` is the moment of the statement. A build of which
# nothing could be said is due as soon as it has completed something since, however long it waited
# for its turn before; `floor_s` after the last sample at the earliest.
DUE = text("""
SELECT b.id, b.generation, statement_timestamp() AS now,
    p.remaining, p.running, p.never_started, p.sampled_at, p.next_sample_at, p.dispatched_at
FROM builds AS b
LEFT JOIN build_progress AS p ON p.build_id = b.id AND p.generation = b.generation
WHERE b.ended_at IS NULL AND b.state = 'capturing'
    AND (
        p.build_id IS NULL OR p.next_sample_at <= statement_timestamp()
        OR p.rate_per_s IS NULL
            AND p.sampled_at <= statement_timestamp() - make_interval(secs => :floor_s)
            AND EXISTS (
                SELECT FROM snapshots AS s WHERE s.build_id = b.id AND s.captured_at > p.sampled_at
            )
    )
ORDER BY p.next_sample_at NULLS FIRST, b.id LIMIT :limit
""")

# One statement, one moment: a shard and its job are never seen from two sides of a settle.
COUNTS = text("""
SELECT b.id, b.generation,
    (
        SELECT count(*) FROM snapshots AS s
        WHERE s.build_id = b.id AND s.generation = b.generation AND s.verdict = 'planned'
    ) AS remaining,
    h.running, h.never_started, h.lost
FROM builds AS b
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (
            WHERE j.state = 'running' AND j.lease_expires_at > statement_timestamp()
        ) AS running,
        count(*) FILTER (WHERE j.id IS NULL OR j.attempt = 0) AS never_started,
        coalesce(array_agg(o.id ORDER BY o.id) FILTER (WHERE j.id IS NULL), '{}') AS lost
    FROM shards AS o
    LEFT JOIN jobs AS j ON j.id = o.job_id
    WHERE o.build_id = b.id AND o.generation = b.generation AND o.state = 'open'
) AS h
WHERE b.id = ANY (CAST(:ids AS bigint[])) AND b.state = 'capturing'
ORDER BY b.id
""")

COMPLETIONS = text("""
SELECT b.id, c.captured_at
FROM builds AS b
CROSS JOIN LATERAL (
    SELECT s.captured_at FROM snapshots AS s
    WHERE s.build_id = b.id AND s.generation = b.generation AND s.captured_at IS NOT NULL
    ORDER BY s.captured_at DESC LIMIT :limit
) AS c
WHERE b.id = ANY (CAST(:ids AS bigint[]))
""")

# What is to be captured, as long as it took in the build that it will be compared with.
PAST = text("""
SELECT avg(a.duration_ms) AS mean_ms,
    percentile_cont(0.25) WITHIN GROUP (ORDER BY a.duration_ms) AS low_ms,
    percentile_cont(0.75) WITHIN GROUP (ORDER BY a.duration_ms) AS high_ms
FROM builds AS b
JOIN builds AS past ON past.id = b.ancestor_build_id
JOIN snapshots AS s ON s.build_id = b.id AND s.generation = b.generation
    AND s.verdict = 'planned'
JOIN snapshots AS a ON a.build_id = past.id AND a.generation = past.planned_generation
    AND a.story_id = s.story_id AND a.mode = s.mode AND a.browser = s.browser
WHERE b.id = :id AND a.duration_ms IS NOT NULL
""")

# Whoever holds a build's row to move or to delete it is not waited for: its sample can wait.
WRITE = text("""
INSERT INTO build_progress AS p (
    build_id, generation, remaining, running, never_started, rate_per_s, low_s, likely_s, high_s,
    sampled_at, next_sample_at
)
SELECT b.id, :generation, :remaining, :running, :never_started, :rate_per_s, :low_s, :likely_s,
    :high_s, statement_timestamp(), statement_timestamp() + make_interval(secs => :wait_s)
FROM builds AS b WHERE b.id = :id FOR KEY SHARE SKIP LOCKED
ON CONFLICT (build_id) DO UPDATE SET
    generation = excluded.generation, remaining = excluded.remaining, running = excluded.running,
    never_started = excluded.never_started, rate_per_s = excluded.rate_per_s,
    low_s = excluded.low_s, likely_s = excluded.likely_s, high_s = excluded.high_s,
    sampled_at = excluded.sampled_at, next_sample_at = excluded.next_sample_at,
    dispatched_at = CASE WHEN p.generation = excluded.generation THEN p.dispatched_at END
""")

DISPATCHED = text("""
UPDATE build_progress SET dispatched_at = statement_timestamp() WHERE build_id = :id
""")

FORGET = text("""
DELETE FROM build_progress WHERE build_id = ANY (ARRAY(
    SELECT p.build_id FROM build_progress AS p JOIN builds AS b ON b.id = p.build_id
    WHERE p.next_sample_at <= statement_timestamp() AND b.state <> 'capturing'
    LIMIT :limit FOR UPDATE OF p SKIP LOCKED
))
""")

SAMPLE = text("""
SELECT rate_per_s, low_s, likely_s, high_s, sampled_at
FROM build_progress WHERE build_id = :id AND generation = :generation
""")


@dataclass(frozen=True, slots=True)
class Due:
    """A build that is to be sampled, and what its last sample of this generation said."""

    build_id: BuildId
    generation: int
    before: Standing | None
    last_wait: timedelta | None
    dispatched_ago: timedelta | None


@dataclass(frozen=True, slots=True)
class Counted:
    """A build's standing now, and its open shards that no job of the queue is for."""

    generation: int
    standing: Standing
    lost: tuple[ShardId, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """What pages say of a build's pace, and when it was reckoned."""

    eta: Eta | None
    sampled_at: datetime


async def due(tx: Tx, limit: int) -> Sequence[Due]:
    """Return builds that are captured and whose next sample is due, the longest due first."""
    values = {"limit": limit, "floor_s": FLOOR.total_seconds()}
    return [_due(row) for row in await tx.execute(DUE, values)]


async def count(tx: Tx, build_ids: Sequence[BuildId]) -> Mapping[BuildId, Counted]:
    """Count where the builds stand; one that is captured no more is not in the map."""
    found = await tx.execute(COUNTS, {"ids": list(build_ids)})
    return {
        BuildId(row.id): Counted(
            row.generation,
            Standing(row.remaining, row.running, row.never_started),
            tuple(ShardId(each) for each in row.lost[:LOST_READ]),
        )
        for row in found
    }


async def completions(tx: Tx, build_ids: Sequence[BuildId]) -> Mapping[BuildId, Sequence[datetime]]:
    """Return when the builds' last snapshots were captured."""
    values = {"ids": list(build_ids), "limit": COMPLETIONS_READ}
    times: dict[BuildId, list[datetime]] = {build_id: [] for build_id in build_ids}
    for row in await tx.execute(COMPLETIONS, values):
        times[BuildId(row.id)].append(row.captured_at)
    return times


async def past_durations(tx: Tx, build_id: BuildId) -> PastDurations | None:
    """Return what the snapshots that are still planned took in the build's ancestor."""
    row = (await tx.execute(PAST, {"id": build_id})).one()
    if row.mean_ms is None:
        return None
    return PastDurations(float(row.low_ms), float(row.mean_ms), float(row.high_ms))


async def now(tx: Tx) -> datetime:
    """Return the database's time, which completions are told in."""
    found: datetime = (await tx.execute(text("SELECT statement_timestamp()"))).scalar_one()
    return found


async def write(
    tx: Tx, build_id: BuildId, counted: Counted, eta: Eta | None, wait: timedelta
) -> None:
    """Write a build's sample, and when the next is due."""
    values = {
        "id": build_id,
        "generation": counted.generation,
        "remaining": counted.standing.remaining,
        "running": counted.standing.running,
        "never_started": counted.standing.never_started,
        "rate_per_s": None if eta is None else eta.rate_per_s,
        "low_s": None if eta is None else eta.low_s,
        "likely_s": None if eta is None else eta.likely_s,
        "high_s": None if eta is None else eta.high_s,
        "wait_s": wait.total_seconds(),
    }
    await tx.execute(WRITE, values)


async def mark_dispatched(tx: Tx, build_id: BuildId) -> None:
    """Remember that shards of the build were sent out again just now."""
    await tx.execute(DISPATCHED, {"id": build_id})


async def forget_ended(tx: Tx, limit: int) -> None:
    """Forget samples of builds that are captured no more."""
    await tx.execute(FORGET, {"limit": limit})


async def sample_of(tx: Tx, build_id: BuildId, generation: int) -> Sample | None:
    """Return the last sample of the build in this generation: one row by its key."""
    found = await tx.execute(SAMPLE, {"id": build_id, "generation": generation})
    row = found.one_or_none()
    if row is None:
        return None
    eta = None
    if row.rate_per_s is not None:
        eta = Eta(row.rate_per_s, row.low_s, row.likely_s, row.high_s)
    return Sample(eta, row.sampled_at)


def _due(row: Row[*tuple[object, ...]]) -> Due:
    is_first = row.sampled_at is None
    return Due(
        build_id=BuildId(row.id),
        generation=row.generation,
        before=None if is_first else Standing(row.remaining, row.running, row.never_started),
        last_wait=None if is_first else row.next_sample_at - row.sampled_at,
        dispatched_ago=None if row.dispatched_at is None else row.now - row.dispatched_at,
    )
