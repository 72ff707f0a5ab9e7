"""What lists ask of the builds of many branches and projects; nothing here locks or writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, ScalarSelect, and_, exists, func, select
from sqlalchemy.orm import aliased

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.store import COLUMNS, build_of
from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, ProjectRow
from storyshelf.ids import BuildId, ProjectId

LOOKED_AT = 100  # pending builds of a project: most of a long history have newer ones after them

_Newer = aliased(BuildRow)
IS_NEWEST = ~exists().where(
    _Newer.project_id == BuildRow.project_id,
    _Newer.branch == BuildRow.branch,
    _Newer.number > BuildRow.number,
)


async def at_defaults(tx: Tx, project_ids: Sequence[ProjectId]) -> Mapping[ProjectId, Build]:
    """Return where each project stands: the newest build of its default branch, else of all.

    A project without a build is not in the map. One or two steps on an index a project.
    """
    of_default = _newest(BuildRow.branch == ProjectRow.default_branch)
    rows = await tx.execute(
        select(*COLUMNS)
        .join(
            ProjectRow,
            and_(
                BuildRow.project_id == ProjectRow.id,
                BuildRow.number == func.coalesce(of_default, _newest()),
            ),
        )
        .where(ProjectRow.id.in_(project_ids))
    )
    return {build.project_id: build for build in map(build_of, rows)}


async def waiting_branches(tx: Tx, project_ids: Sequence[ProjectId]) -> Mapping[ProjectId, int]:
    """Count the branches of each project whose newest build waits for a decision; none: left out.

    Of the last pending builds alone: what a newer build of the branch took the place of is no
    longer waited for.
    """
    pending = (
        select(BuildRow.id, BuildRow.number, BuildRow.branch)
        .where(BuildRow.project_id == ProjectRow.id, BuildRow.state == BuildState.PENDING)
        .order_by(BuildRow.number.desc())
        .limit(LOOKED_AT)
        .correlate(ProjectRow)
        .lateral("pending")
    )
    has_newer = exists().where(
        BuildRow.project_id == ProjectRow.id,
        BuildRow.branch == pending.c.branch,
        BuildRow.number > pending.c.number,
    )
    rows = await tx.execute(
        select(ProjectRow.id, func.count())
        .select_from(ProjectRow)
        .join(pending, ~has_newer)
        .where(ProjectRow.id.in_(project_ids))
        .group_by(ProjectRow.id)
    )
    return {ProjectId(project_id): number for project_id, number in rows}


async def branches_page(
    tx: Tx, project_id: ProjectId, *, text: str, before: int | None, limit: int
) -> Sequence[Build]:
    """Return the newest build of each branch, that of the latest first.

    `text` is a part of the branches' names, `before` the number of a build.
    """
    wanted = [BuildRow.project_id == project_id, IS_NEWEST]
    if text:
        wanted.append(BuildRow.branch.icontains(text, autoescape=True))
    if before is not None:
        wanted.append(BuildRow.number < before)
    rows = await tx.execute(
        select(*COLUMNS).where(*wanted).order_by(BuildRow.number.desc()).limit(limit)
    )
    return [build_of(row) for row in rows]


async def number_of_builds(tx: Tx, project_id: ProjectId) -> int:
    """Count the builds that a project has."""
    found = await tx.execute(select(func.count()).where(BuildRow.project_id == project_id))
    return int(found.scalar_one())


@dataclass(frozen=True, slots=True)
class NamedBuild:
    """What a list needs to name a build and to link it."""

    slug: str
    number: int
    branch: str
    request_id: str | None  # of the request that opened it


async def named(tx: Tx, build_ids: Sequence[BuildId]) -> Mapping[BuildId, NamedBuild]:
    """Return builds by what they are called; one that was deleted is not in the map."""
    rows = await tx.execute(
        select(
            *(BuildRow.id, ProjectRow.slug, BuildRow.number, BuildRow.branch, BuildRow.request_id)
        )
        .join(ProjectRow, ProjectRow.id == BuildRow.project_id)
        .where(BuildRow.id.in_(build_ids))
    )
    return {
        BuildId(row.id): NamedBuild(row.slug, row.number, row.branch, row.request_id)
        for row in rows
    }


def _newest(*wanted: ColumnElement[bool]) -> ScalarSelect[int]:
    return (
        select(BuildRow.number)
        .where(BuildRow.project_id == ProjectRow.id, *wanted)
        .order_by(BuildRow.number.desc())
        .limit(1)
        .correlate(ProjectRow)
        .scalar_subquery()
    )
