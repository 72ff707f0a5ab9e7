"""All SQL of what is remembered of how still stories hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select, text

from storyshelf.db.engine import Tx
from storyshelf.db.tables import SteadinessRow
from storyshelf.ids import ProjectId, SnapshotId, SnapshotKey, StoryId
from storyshelf.snapshots.steadiness import MEMORY, WEIGHTS, Level, Steadiness, start_of

# In the order of the keys: two builds of a project may be captured at the same time. Only of rows
# that still wait for their result, so that one that is written twice is counted once.
REMEMBER = text(
    """
    INSERT INTO steadiness AS known
        (project_id, story_id, mode, browser, level, captures, needed_more, unstable, flakiness)
    SELECT :project_id, s.story_id, s.mode, s.browser, seen.level, 1,
        (seen.weight > 0)::int, (seen.weight = 1)::int, seen.weight
    FROM unnest(CAST(:ids AS bigint[]), CAST(:levels AS text[]), CAST(:weights AS float8[]))
        AS seen (id, level, weight)
    JOIN snapshots s ON s.id = seen.id AND s.verdict = 'planned'
    ORDER BY s.story_id, s.mode, s.browser
    ON CONFLICT (project_id, story_id, mode, browser) DO UPDATE SET
        level = excluded.level,
        captures = known.captures + 1,
        needed_more = known.needed_more + excluded.needed_more,
        unstable = known.unstable + excluded.unstable,
        flakiness = known.flakiness
            + (excluded.flakiness - known.flakiness) / least(known.captures + 1, :memory),
        seen_at = now()
    """
)


async def remember(tx: Tx, project_id: ProjectId, seen: Mapping[SnapshotId, Level]) -> None:
    """Count captures whose results are about to be written."""
    if not seen:
        return
    values = {
        "project_id": project_id,
        "ids": list(seen),
        "levels": [level.value for level in seen.values()],
        "weights": [WEIGHTS[level] for level in seen.values()],
        "memory": MEMORY,
    }
    await tx.execute(REMEMBER, values)


async def starts(tx: Tx, project_id: ProjectId) -> Mapping[SnapshotKey, Level]:
    """Return the rung to begin on, of the snapshots that were ever seen to need more."""
    rows = await tx.execute(
        select(*SteadinessRow.__table__.columns).where(
            SteadinessRow.project_id == project_id, SteadinessRow.flakiness > 0
        )
    )
    found = [_read(row) for row in rows]
    return {one.key: start_of(one.level, one.captures) for one in found}


async def of(tx: Tx, project_id: ProjectId, key: SnapshotKey) -> Steadiness | None:
    """Return what is remembered of one snapshot."""
    found = await tx.execute(
        select(*SteadinessRow.__table__.columns).where(
            SteadinessRow.project_id == project_id,
            SteadinessRow.story_id == key.story_id,
            SteadinessRow.mode == key.mode,
            SteadinessRow.browser == key.browser,
        )
    )
    row = found.one_or_none()
    return None if row is None else _read(row)


async def flakiest(tx: Tx, project_id: ProjectId, limit: int) -> Sequence[Steadiness]:
    """Return the snapshots that hold still the least, the worst first."""
    rows = await tx.execute(
        select(*SteadinessRow.__table__.columns)
        .where(SteadinessRow.project_id == project_id, SteadinessRow.flakiness > 0)
        .order_by(SteadinessRow.flakiness.desc(), SteadinessRow.story_id, SteadinessRow.mode)
        .limit(limit)
    )
    return [_read(row) for row in rows]


def _read(row: Row[*tuple[Any, ...]]) -> Steadiness:
    return Steadiness(
        key=SnapshotKey(StoryId(row.story_id), row.mode, row.browser),
        level=Level(row.level),
        captures=row.captures,
        needed_more=row.needed_more,
        unstable=row.unstable,
        flakiness=row.flakiness,
    )
