"""What deleting and keeping builds reads across the tables; it writes none of them.

A build is *used* by another one whose snapshots name one of its own: as what they hand on, or as
the baseline that they are compared with. Where a picture is the very same as its baseline's, and
hands on itself, the baseline is not needed any more.
"""

from collections.abc import Collection, Sequence, Set
from datetime import timedelta

from sqlalchemy import exists, func, select, text

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Tx
from storyshelf.db.tables import (
    BuildRow,
    ConnectionRow,
    DeliveryRow,
    ProjectRow,
    ShardRow,
    SnapshotRow,
)
from storyshelf.deliveries.delivery import DeliveryState
from storyshelf.ids import BuildId, ProjectId
from storyshelf.operations.retention import Candidate
from storyshelf.operations.uses import Use, User
from storyshelf.snapshots.decision import DECIDABLE, Decision

# From the snapshots of the one build, by index, to whoever names them.
USERS = text("""
SELECT DISTINCT user_id, use, b.number
FROM (
    SELECT u.build_id AS user_id, 'handed on' AS use
    FROM snapshots AS s JOIN snapshots AS u ON u.effective_snapshot_id = s.id
    WHERE s.build_id = :build_id AND u.build_id <> s.build_id
    UNION ALL
    SELECT u.build_id, 'baseline'
    FROM snapshots AS s JOIN snapshots AS u ON u.baseline_snapshot_id = s.id
    WHERE s.build_id = :build_id AND u.build_id <> s.build_id
    AND NOT (u.verdict = 'unchanged' AND u.effective_snapshot_id = u.id)
) AS named
JOIN builds AS b ON b.id = user_id
ORDER BY b.number, use
""")
RELATIVES = text("""
SELECT u.build_id FROM snapshots AS s JOIN snapshots AS u ON u.baseline_snapshot_id = s.id
WHERE s.build_id = :build_id
UNION SELECT id FROM builds WHERE ancestor_build_id = :build_id
UNION SELECT CAST(:build_id AS bigint)
""")


async def users_of(tx: Tx, build_id: BuildId) -> Sequence[User]:
    """Return who uses the build, in order of their numbers."""
    rows = await tx.execute(USERS, {"build_id": build_id})
    return [User(row.number, BuildId(row.user_id), Use(row.use)) for row in rows]


async def relatives_of(tx: Tx, build_id: BuildId) -> Set[BuildId]:
    """Return the build and all whose rows change when it is deleted."""
    rows = await tx.execute(RELATIVES, {"build_id": build_id})
    return {BuildId(found) for found in rows.scalars()}


async def is_still_saying(tx: Tx, project_id: ProjectId, patience: timedelta) -> bool:
    """Tell whether a project that is being deleted has something to say yet, and the time for it.

    What a disabled connection would say is waited for by nobody.
    """
    waiting = (
        exists()
        .where(DeliveryRow.connection_id == ConnectionRow.id)
        .where(ConnectionRow.project_id == ProjectRow.id, ConnectionRow.disabled_at.is_(None))
        .where(DeliveryRow.state == DeliveryState.WAITING)
    )
    young = ProjectRow.deleting_at > func.now() - patience
    found = await tx.execute(select(exists().where(ProjectRow.id == project_id, young, waiting)))
    return bool(found.scalar_one())


async def lock_builds(tx: Tx, ids: Collection[BuildId]) -> None:
    """Lock the builds' shards and then the builds, each in order of id: the lock order."""
    for wanted in (
        select(ShardRow.id).where(ShardRow.build_id.in_(ids)).order_by(ShardRow.id),
        select(BuildRow.id).where(BuildRow.id.in_(ids)).order_by(BuildRow.id),
    ):
        await tx.execute(wanted.with_for_update())


async def lock_snapshots(tx: Tx, build_id: BuildId) -> None:
    """Lock a build's snapshots: from now on nobody can name one of them anew."""
    wanted = select(SnapshotRow.id).where(SnapshotRow.build_id == build_id)
    await tx.execute(wanted.order_by(SnapshotRow.id).with_for_update())


async def is_any_captured(tx: Tx) -> bool:
    """Tell whether a build is being captured."""
    is_capturing = exists().where(
        BuildRow.ended_at.is_(None), BuildRow.state == BuildState.CAPTURING
    )
    return bool((await tx.execute(select(is_capturing))).scalar_one())


async def newest_build(tx: Tx, project_id: ProjectId) -> BuildId | None:
    """Return the project's build of the highest number."""
    rows = await tx.execute(
        select(BuildRow.id)
        .where(BuildRow.project_id == project_id)
        .order_by(BuildRow.number.desc())
        .limit(1)
    )
    found = rows.scalar_one_or_none()
    return None if found is None else BuildId(found)


async def candidates(tx: Tx, project_id: ProjectId) -> Sequence[Candidate]:
    """Return what retention asks of each of a project's builds."""
    is_undecided = exists().where(
        SnapshotRow.build_id == BuildRow.id,
        SnapshotRow.generation == BuildRow.planned_generation,
        SnapshotRow.verdict.in_(DECIDABLE),
        SnapshotRow.decision == Decision.NONE,
    )
    rows = await tx.execute(
        select(
            *(BuildRow.id, BuildRow.number, BuildRow.branch, BuildRow.created_at),
            *(BuildRow.ended_at, BuildRow.planned_at.is_not(None), is_undecided),
        ).where(BuildRow.project_id == project_id)
    )
    return [Candidate(BuildId(row[0]), *row[1:]) for row in rows]
