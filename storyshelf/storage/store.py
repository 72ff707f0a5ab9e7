"""All SQL of blobs: which content is here, which project brought it, and what nobody names.

`used_at` is the fence between who names a blob and who sweeps it: it is renewed, under the row's
lock, by every transaction that is about to name the blob in a row of another table. A sweep takes
only rows that were not used for a grace period, and none that somebody has locked.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import BlobRow, BundleFileRow, ProjectBlobRow
from storyshelf.ids import BlobKey, BuildId, ProjectId

USED_AGAIN_AFTER = timedelta(minutes=10)  # a picture that is stored all the time is not written to
# all the time; it must stay far below the least grace period, see settings.blob_grace_h


async def remember(tx: Tx, project_id: ProjectId, sizes: Mapping[BlobKey, int]) -> None:
    """Write down blobs that are synced in the storage by now, and that the project has them."""
    if not sizes:
        return
    keys = sorted(sizes)  # one order for everybody, so that two writers cannot deadlock
    await tx.execute(
        insert(BlobRow).on_conflict_do_update(
            index_elements=[BlobRow.key],  # also where nothing is to set, the row is locked
            set_={"used_at": func.now()},
            where=BlobRow.used_at < func.now() - literal(USED_AGAIN_AFTER),
        ),
        [{"key": key, "size_bytes": sizes[key]} for key in keys],
    )
    await tx.execute(
        insert(ProjectBlobRow).on_conflict_do_nothing(),
        [{"project_id": project_id, "key": key} for key in keys],
    )


async def use_again(tx: Tx, build_id: BuildId) -> None:
    """Keep what a manifest names from being swept before the manifest itself can be seen."""
    named = select(BundleFileRow.key).where(BundleFileRow.build_id == build_id)
    old = (
        select(BlobRow.key)
        .where(BlobRow.key.in_(named), BlobRow.used_at < func.now() - literal(USED_AGAIN_AFTER))
        .order_by(BlobRow.key)  # the order of everybody
        .with_for_update()
        .cte("old")
    )
    await tx.execute(
        update(BlobRow).where(BlobRow.key.in_(select(old.c.key))).values(used_at=func.now())
    )


async def forget(tx: Tx, key: BlobKey) -> None:
    """Write down that the storage has the content no more: whoever needs it brings it again."""
    await tx.execute(delete(ProjectBlobRow).where(ProjectBlobRow.key == key))


async def missing(tx: Tx, project_id: ProjectId, keys: Sequence[BlobKey]) -> tuple[BlobKey, ...]:
    """Return the keys that the project has not brought, each once, in the order given."""
    found = await tx.execute(
        select(ProjectBlobRow.key).where(
            ProjectBlobRow.project_id == project_id, ProjectBlobRow.key.in_(set(keys))
        )
    )
    here = set(found.scalars())
    return tuple(key for key in dict.fromkeys(keys) if key not in here)


async def belongs_to(tx: Tx, project_id: ProjectId, key: BlobKey) -> bool:
    """Return whether the project may read the blob."""
    return not await missing(tx, project_id, [key])


# For a cursor on a connection of its own: millions of them are streamed, in a snapshot's view.
EVERY_KEY = "SELECT key FROM blobs ORDER BY key"

# One page of blobs in order of their keys, and those of it that no row names. Each question is
# asked of an index, blob by blob: `OFFSET 0` keeps the planner from turning them into joins, which
# would read every snapshot for each page.
UNUSED = text("""
WITH page AS MATERIALIZED (
    SELECT key, size_bytes, used_at FROM blobs WHERE key > :after ORDER BY key LIMIT :page
)
SELECT
    (SELECT max(key) FROM page) AS last, b.key, b.size_bytes
FROM (SELECT) AS one
LEFT JOIN page AS b ON used_at < :before
    AND NOT EXISTS (SELECT FROM bundle_files AS f WHERE f.key = b.key OFFSET 0)
    AND NOT EXISTS (SELECT FROM snapshots AS s WHERE s.image_key = b.key OFFSET 0)
    AND NOT EXISTS (SELECT FROM snapshots AS s WHERE s.mask_key = b.key OFFSET 0)
    AND NOT EXISTS (
        SELECT FROM snapshots AS s
        WHERE s.frames <> '{}' AND s.frames @> ARRAY[b.key] OFFSET 0
    )
    AND NOT EXISTS (SELECT FROM traces AS t WHERE t.blob_key = b.key OFFSET 0)
""")


@dataclass(frozen=True, slots=True)
class UnusedBlobs:
    """What a page of blobs holds that nobody names; `last` is where the page ends, None: no page.

    `sizes` are in bytes.
    """

    last: BlobKey | None
    sizes: Mapping[BlobKey, int]


async def unused(tx: Tx, after: BlobKey, before: datetime, page: int) -> UnusedBlobs:
    """Look at a page of blobs for those that no row names and that were not used since."""
    found = await tx.execute(UNUSED, {"after": after, "before": before, "page": page})
    rows = found.all()
    sizes = {BlobKey(row.key): row.size_bytes for row in rows if row.key is not None}
    return UnusedBlobs(rows[0].last, sizes)


async def take_unused(tx: Tx, keys: Collection[BlobKey], before: datetime) -> Sequence[BlobKey]:
    """Delete the rows of blobs that were found unused, but for those used again since then.

    Who is about to name one holds its row or has renewed `used_at`: the first is skipped, and the
    second is seen, as a row that was changed is looked at again.
    """
    if not keys:
        return []
    locked = await tx.execute(
        select(BlobRow.key)
        .where(BlobRow.key.in_(keys), BlobRow.used_at < before)
        .order_by(BlobRow.key)
        .with_for_update(skip_locked=True)
    )
    taken = list(locked.scalars())
    await tx.execute(delete(ProjectBlobRow).where(ProjectBlobRow.key.in_(taken)))
    await tx.execute(delete(BlobRow).where(BlobRow.key.in_(taken)))
    return [BlobKey(key) for key in taken]


async def without_row(tx: Tx, keys: Collection[BlobKey]) -> Sequence[BlobKey]:
    """Return the keys that no row stands for, in order."""
    found = await tx.execute(select(BlobRow.key).where(BlobRow.key.in_(keys)))
    return sorted(set(keys) - {BlobKey(key) for key in found.scalars()})


async def forget_project(tx: Tx, project_id: ProjectId) -> None:
    """Delete what a project has brought from its account; the blobs are left for a sweep."""
    await tx.execute(delete(ProjectBlobRow).where(ProjectBlobRow.project_id == project_id))
