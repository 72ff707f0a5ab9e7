"""All SQL of order-dependent stories."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import OrderDependenceRow
from storyshelf.ids import ProjectId, SnapshotKey, StoryId
from storyshelf.snapshots.dependence import PROVEN_BY, TRIED_AGAIN_AFTER_DAYS
from storyshelf.snapshots.snapshot import OrderDependence

FORGOTTEN_AFTER_DAYS = 3 * TRIED_AGAIN_AFTER_DAYS


async def note(tx: Tx, project: ProjectId, found: Mapping[SnapshotKey, OrderDependence]) -> None:
    """Count what was seen; what was not seen for long is forgotten."""
    if not found:
        return
    old = func.now() - timedelta(days=FORGOTTEN_AFTER_DAYS)
    await tx.execute(
        delete(OrderDependenceRow).where(
            OrderDependenceRow.project_id == project, OrderDependenceRow.seen_at < old
        )
    )
    for key in sorted(found):  # in one order: two shards may find the same two stories
        values = {"suspect": found[key].suspect, "left_behind": list(found[key].left)}
        added = insert(OrderDependenceRow).values(
            project_id=project, story_id=key.story_id, mode=key.mode, times=1, **values
        )
        again = added.on_conflict_do_update(
            index_elements=[
                OrderDependenceRow.project_id,
                OrderDependenceRow.story_id,
                OrderDependenceRow.mode,
            ],
            set_={"times": OrderDependenceRow.times + 1, "seen_at": func.now(), **values},
        )
        await tx.execute(again)


async def proven(tx: Tx, project: ProjectId) -> Mapping[SnapshotKey, OrderDependence]:
    """Return the stories that are to be loaded by themselves."""
    recent = func.now() - timedelta(days=TRIED_AGAIN_AFTER_DAYS)
    rows = await tx.execute(
        select(
            OrderDependenceRow.story_id,
            OrderDependenceRow.mode,
            OrderDependenceRow.suspect,
            OrderDependenceRow.left_behind,
        ).where(
            OrderDependenceRow.project_id == project,
            OrderDependenceRow.times >= PROVEN_BY,
            OrderDependenceRow.seen_at > recent,
        )
    )
    return {
        SnapshotKey(StoryId(row.story_id), row.mode): OrderDependence(
            StoryId(row.suspect), tuple(row.left_behind)
        )
        for row in rows
    }
