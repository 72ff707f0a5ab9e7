"""All SQL of projects."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import ProjectRow
from storyshelf.ids import ProjectId
from storyshelf.projects.options import ProjectOptions
from storyshelf.projects.project import NoSuchProjectError, Project, SlugTakenError


async def add(tx: Tx, slug: str, name: str, default_branch: str) -> Project:
    """Make a project; raises SlugTakenError."""
    made = await tx.execute(
        insert(ProjectRow)
        .values(slug=slug, name=name, default_branch=default_branch)
        .on_conflict_do_nothing(index_elements=[ProjectRow.slug])
        .returning(ProjectRow)
    )
    row = made.one_or_none()
    if row is None:
        raise SlugTakenError(slug)
    return _project(row)


async def by_slug(tx: Tx, slug: str) -> Project:
    """Return the project; raises NoSuchProjectError."""
    row = (await tx.execute(select(ProjectRow).where(ProjectRow.slug == slug))).one_or_none()
    if row is None:
        raise NoSuchProjectError(slug)
    return _project(row)


async def by_id(tx: Tx, project_id: ProjectId) -> Project:
    """Return the project of an id that is known to exist."""
    return _project((await tx.execute(select(ProjectRow).where(ProjectRow.id == project_id))).one())


async def page(tx: Tx, *, after_slug: str, limit: int) -> Sequence[Project]:
    """Return projects in order of their slugs, from after the given one."""
    rows = await tx.execute(
        select(ProjectRow)
        .where(ProjectRow.slug > after_slug)
        .order_by(ProjectRow.slug)
        .limit(limit)
    )
    return [_project(row) for row in rows]


async def lock(tx: Tx, project_id: ProjectId) -> None:
    """Hold the project's row until the transaction ends, so that openings come one by one."""
    await tx.execute(select(ProjectRow.id).where(ProjectRow.id == project_id).with_for_update())


async def take_build_number(tx: Tx, project_id: ProjectId) -> int:
    """Return the project's next build number; the row lock makes numbers the order of opening."""
    taken = await tx.execute(
        update(ProjectRow)
        .where(ProjectRow.id == project_id)
        .values(last_build_number=ProjectRow.last_build_number + 1)
        .returning(ProjectRow.last_build_number)
    )
    return int(taken.scalar_one())


async def set_options(tx: Tx, project_id: ProjectId, options: dict[str, Any]) -> None:
    """Set options over the ones that are there."""
    await tx.execute(
        update(ProjectRow)
        .where(ProjectRow.id == project_id)
        .values(options=ProjectRow.options.op("||")(options))
    )


def _project(row: Row[*tuple[Any, ...]]) -> Project:
    return Project(
        id=ProjectId(row.id),
        slug=row.slug,
        name=row.name,
        default_branch=row.default_branch,
        options=ProjectOptions.parse(row.options),
        created_at=row.created_at,
    )
