"""What is published: reads of builds and their files, by the address that names them."""

from sqlalchemy import select

from storyshelf.bundle.manifest import BundledFile
from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, BundleFileRow
from storyshelf.ids import BlobKey, BuildId, ProjectId


async def newest_sealed(tx: Tx, project_id: ProjectId, branch: str) -> int | None:
    """Return the number of the branch's newest build that was uploaded whole."""
    found = await tx.execute(
        select(BuildRow.number)
        .where(
            BuildRow.project_id == project_id,
            BuildRow.branch == branch,
            BuildRow.sealed_at.is_not(None),
        )
        .order_by(BuildRow.number.desc())
        .limit(1)
    )
    return found.scalar_one_or_none()


async def files_at(tx: Tx, build_id: BuildId, *paths: str) -> dict[str, BundledFile]:
    """Return those of the paths that the bundle holds."""
    rows = await tx.execute(
        select(BundleFileRow.path, BundleFileRow.key, BundleFileRow.size_bytes).where(
            BundleFileRow.build_id == build_id, BundleFileRow.path.in_(paths)
        )
    )
    return {row.path: BundledFile(row.path, BlobKey(row.key), row.size_bytes) for row in rows}
