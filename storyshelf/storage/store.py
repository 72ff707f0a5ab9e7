"""All SQL of blobs: which content is here, and which project brought it."""

from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import BlobRow, ProjectBlobRow
from storyshelf.ids import BlobKey, ProjectId


async def remember(tx: Tx, project_id: ProjectId, sizes: Mapping[BlobKey, int]) -> None:
    """Write down blobs that are synced in the storage by now, and that the project has them."""
    if not sizes:
        return
    keys = sorted(sizes)  # one order for everybody, so that two writers cannot deadlock
    await tx.execute(
        insert(BlobRow).on_conflict_do_nothing(),
        [{"key": key, "size_bytes": sizes[key]} for key in keys],
    )
    await tx.execute(
        insert(ProjectBlobRow).on_conflict_do_nothing(),
        [{"project_id": project_id, "key": key} for key in keys],
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
