"""All SQL of projects."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import ProjectRow
from storyshelf.ids import ProjectId
from storyshelf.projects.options import ProjectOptions
from storyshelf.projects.project import NoSuchProjectError, Project, SlugTakenError
from storyshelf.queue import store as queue

IS_KEPT = ProjectRow.deleting_at.is_(None)


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
    """Return the project; raises NoSuchProjectError, also for one that is being deleted."""
    wanted = select(ProjectRow).where(ProjectRow.slug == slug, IS_KEPT)
    row = (await tx.execute(wanted)).one_or_none()
    if row is None:
        raise NoSuchProjectError(slug)
    return _project(row)


async def by_id(tx: Tx, project_id: ProjectId) -> Project:
    """Return the project of an id that is known to exist."""
    return _project((await tx.execute(select(ProjectRow).where(ProjectRow.id == project_id))).one())


@dataclass(frozen=True, slots=True)
class ProjectFilter:
    """Which projects a list shows: those of the ids, None: all; with the text in slug or name."""

    among: Collection[ProjectId] | None = None
    text: str = ""


EVERY = ProjectFilter()


async def page(
    tx: Tx, *, after_slug: str, limit: int, shown: ProjectFilter = EVERY
) -> Sequence[Project]:
    """Return projects in order of their slugs, from after the given one."""
    wanted = [ProjectRow.slug > after_slug, IS_KEPT]
    if shown.among is not None:
        wanted.append(ProjectRow.id.in_(shown.among))
    if shown.text:
        words = func.concat_ws(" ", ProjectRow.slug, ProjectRow.name)
        wanted.append(words.icontains(shown.text, autoescape=True))
    rows = await tx.execute(
        select(ProjectRow).where(*wanted).order_by(ProjectRow.slug).limit(limit)
    )
    return [_project(row) for row in rows]


async def slugs(tx: Tx, ids: Collection[ProjectId]) -> Mapping[ProjectId, str]:
    """Return the slugs of projects; one that was deleted is not in the map."""
    rows = await tx.execute(
        select(ProjectRow.id, ProjectRow.slug).where(ProjectRow.id.in_(ids), IS_KEPT)
    )
    return {ProjectId(row.id): row.slug for row in rows}


async def lock(tx: Tx, project_id: ProjectId) -> None:
    """Hold the project's row until the transaction ends, so that openings come one by one.

    Raises NoSuchProjectError where it is deleted meanwhile.
    """
    wanted = select(ProjectRow.id).where(ProjectRow.id == project_id, IS_KEPT)
    if (await tx.execute(wanted.with_for_update())).one_or_none() is None:
        raise NoSuchProjectError(f"project {project_id}")


async def take_build_number(tx: Tx, project_id: ProjectId) -> int:
    """Return the project's next build number; the row lock makes numbers the order of opening."""
    taken = await tx.execute(
        update(ProjectRow)
        .where(ProjectRow.id == project_id)
        .values(last_build_number=ProjectRow.last_build_number + 1)
        .returning(ProjectRow.last_build_number)
    )
    return int(taken.scalar_one())


async def begin_deleting(tx: Tx, project_id: ProjectId) -> None:
    """Have nobody see the project from now on; its slug is taken until it is removed."""
    await tx.execute(
        update(ProjectRow).where(ProjectRow.id == project_id).values(deleting_at=func.now())
    )


async def being_deleted(tx: Tx, limit: int) -> Sequence[ProjectId]:
    """Return projects whose deletion has begun, the oldest first."""
    rows = await tx.execute(
        select(ProjectRow.id)
        .where(ProjectRow.deleting_at.is_not(None))
        .order_by(ProjectRow.deleting_at)
        .limit(limit)
    )
    return [ProjectId(found) for found in rows.scalars()]


async def remove(tx: Tx, project_id: ProjectId) -> None:
    """Delete a project without builds, and what belongs to it: tokens, members, connections."""
    await tx.execute(delete(ProjectRow).where(ProjectRow.id == project_id))


async def set_options(tx: Tx, project_id: ProjectId, options: dict[str, Any]) -> None:
    """Set options over the ones that are there."""
    await change(tx, project_id, {}, options)


async def change(
    tx: Tx, project_id: ProjectId, named: Mapping[str, str], options: Mapping[str, Any]
) -> None:
    """Set the project's own columns, and options over the ones that are there."""
    await tx.execute(
        update(ProjectRow)
        .where(ProjectRow.id == project_id)
        .values(options=ProjectRow.options.op("||")(dict(options)), **named)
    )
    if "max_running" in options:
        await queue.set_running_cap(tx, project_id, options["max_running"])


def _project(row: Row[*tuple[Any, ...]]) -> Project:
    return Project(
        id=ProjectId(row.id),
        slug=row.slug,
        name=row.name,
        default_branch=row.default_branch,
        options=ProjectOptions.parse(row.options),
        created_at=row.created_at,
    )
