"""All SQL of builds and their bundle files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, exists, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.builds.build import (
    NEXT_STATES,
    UNENDED,
    Build,
    BuildMovedError,
    BuildState,
    NoSuchBuildError,
)
from storyshelf.bundle.manifest import BundledFile
from storyshelf.db.engine import Tx
from storyshelf.db.tables import (
    BuildRow,
    BundleFileRow,
    EnvironmentRow,
    JobRow,
    ProjectBlobRow,
    ProjectRow,
)
from storyshelf.ids import BlobKey, BuildId, EnvironmentId, JobId, ProjectId
from storyshelf.projects.project import Project

FILES_A_STATEMENT = 5_000
COLUMNS = tuple(getattr(BuildRow, field.name) for field in fields(Build))


@dataclass(frozen=True, slots=True)
class NewBuild:
    """What an upload says of its build."""

    idempotency_key: str
    branch: str
    commit: str
    message: str | None = None
    author: str | None = None


async def add(tx: Tx, project_id: ProjectId, number: int, new: NewBuild) -> Build:
    """Write a build that is about to be uploaded."""
    made = await tx.execute(
        insert(BuildRow)
        .values(
            project_id=project_id,
            number=number,
            idempotency_key=new.idempotency_key,
            branch=new.branch,
            commit=new.commit,
            message=new.message,
            author=new.author,
        )
        .returning(*COLUMNS)
    )
    return _build(made.one())


async def add_files(tx: Tx, build_id: BuildId, files: Sequence[BundledFile]) -> None:
    """Write the manifest."""
    values = [
        {"build_id": build_id, "path": file.path, "key": file.sha256, "size_bytes": file.size_bytes}
        for file in files
    ]
    for start in range(0, len(values), FILES_A_STATEMENT):
        await tx.execute(insert(BundleFileRow), values[start : start + FILES_A_STATEMENT])


async def files_of(tx: Tx, build_id: BuildId) -> tuple[BundledFile, ...]:
    """Return the manifest, in order of the paths."""
    rows = await tx.execute(
        select(BundleFileRow.path, BundleFileRow.key, BundleFileRow.size_bytes).where(
            BundleFileRow.build_id == build_id
        )
    )
    # Sorted here: the manifest's order is by code point, whatever the database's collation.
    return tuple(sorted(BundledFile(row.path, BlobKey(row.key), row.size_bytes) for row in rows))


async def file_size(tx: Tx, build_id: BuildId, key: BlobKey) -> int | None:
    """Return the size the manifest gives for a content, None if it does not name it."""
    found = await tx.execute(
        select(BundleFileRow.size_bytes)
        .where(BundleFileRow.build_id == build_id, BundleFileRow.key == key)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def missing_files(tx: Tx, build: Build) -> tuple[BlobKey, ...]:
    """Return the contents that the project has not brought yet, each once."""
    rows = await tx.execute(
        select(BundleFileRow.key)
        .where(
            BundleFileRow.build_id == build.id,
            ~exists().where(
                ProjectBlobRow.project_id == build.project_id,
                ProjectBlobRow.key == BundleFileRow.key,
            ),
        )
        .group_by(BundleFileRow.key)
        .order_by(func.min(BundleFileRow.path))
    )
    return tuple(BlobKey(key) for key in rows.scalars())


async def by_number(tx: Tx, project: Project, number: int) -> Build:
    """Return the build; raises NoSuchBuildError."""
    rows = await tx.execute(
        select(*COLUMNS).where(BuildRow.project_id == project.id, BuildRow.number == number)
    )
    row = rows.one_or_none()
    if row is None:
        raise NoSuchBuildError(project.slug, number)
    return _build(row)


async def by_key(tx: Tx, project_id: ProjectId, idempotency_key: str) -> Build | None:
    """Return the build that was opened with the key."""
    rows = await tx.execute(
        select(*COLUMNS).where(
            BuildRow.project_id == project_id, BuildRow.idempotency_key == idempotency_key
        )
    )
    row = rows.one_or_none()
    return None if row is None else _build(row)


async def by_id(tx: Tx, build_id: BuildId) -> Build:
    """Return a build that is known to exist."""
    return _build((await tx.execute(select(*COLUMNS).where(BuildRow.id == build_id))).one())


async def lock(tx: Tx, build_id: BuildId) -> Build:
    """Return the build with its row locked: nobody else moves it until this transaction ends."""
    rows = await tx.execute(select(*COLUMNS).where(BuildRow.id == build_id).with_for_update())
    return _build(rows.one())


@dataclass(frozen=True, slots=True)
class BuildFilter:
    """Which builds a list shows; None shows all."""

    branch: str | None = None
    state: BuildState | None = None


async def page(
    tx: Tx, project_id: ProjectId, shown: BuildFilter, *, before: int | None, limit: int
) -> Sequence[Build]:
    """Return builds, the newest first, from before the given number."""
    wanted = [BuildRow.project_id == project_id]
    if shown.branch is not None:
        wanted.append(BuildRow.branch == shown.branch)
    if shown.state is not None:
        wanted.append(BuildRow.state == shown.state)
    if before is not None:
        wanted.append(BuildRow.number < before)
    rows = await tx.execute(
        select(*COLUMNS).where(*wanted).order_by(BuildRow.number.desc()).limit(limit)
    )
    return [_build(row) for row in rows]


async def latest_of(tx: Tx, project_ids: Sequence[ProjectId]) -> Mapping[ProjectId, Build]:
    """Return the newest build of each project that has one."""
    newest = (
        select(BuildRow.number)
        .where(BuildRow.project_id == ProjectRow.id)
        .order_by(BuildRow.number.desc())
        .limit(1)  # one step on the index a project; a GROUP BY would read every build
        .correlate(ProjectRow)
        .scalar_subquery()
    )
    rows = await tx.execute(
        select(*COLUMNS)
        .join(ProjectRow, (BuildRow.project_id == ProjectRow.id) & (BuildRow.number == newest))
        .where(ProjectRow.id.in_(project_ids))
    )
    return {build.project_id: build for build in map(_build, rows)}


async def facts_of(tx: Tx, environment: EnvironmentId | None) -> Mapping[str, str]:
    """Return what an environment's fingerprint stands for; nothing for one that is not known."""
    rows = await tx.execute(select(EnvironmentRow.facts).where(EnvironmentRow.id == environment))
    return rows.scalar_one_or_none() or {}


async def move(tx: Tx, build: Build, to: BuildState, **changes: Any) -> Build:
    """Move the build by compare-and-set against the state and generation it was read with.

    `changes` are columns written along. Raises BuildMovedError where the table of states does not
    allow the step, or where somebody else moved the build meanwhile.
    """
    if to not in NEXT_STATES[build.state]:
        raise BuildMovedError(build, to)
    if to not in UNENDED:
        changes.setdefault("ended_at", func.now())
    elif build.has_ended:
        changes.setdefault("ended_at", None)
    rows = await tx.execute(
        update(BuildRow)
        .where(
            BuildRow.id == build.id,
            BuildRow.state == build.state,
            BuildRow.generation == build.generation,
        )
        .values(state=to, **changes)
        .returning(*COLUMNS)
    )
    row = rows.one_or_none()
    if row is None:
        raise BuildMovedError(await by_id(tx, build.id), to)
    return _build(row)


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a plan fixes for the build."""

    ancestor_id: BuildId | None
    environment: EnvironmentId
    rule: str | None


async def start_capture(tx: Tx, build: Build, open_shards: int, pinned: Pinned) -> Build:
    """Move a planned build on; from now on its generation's snapshots are the build's."""
    return await move(
        tx,
        build,
        BuildState.CAPTURING,
        planned_at=func.now(),
        planned_generation=build.generation,
        open_shards=open_shards,
        ancestor_build_id=pinned.ancestor_id,
        environment_id=pinned.environment,
        rule=pinned.rule,
    )


async def seal(tx: Tx, build: Build) -> Build:
    """Move an uploaded build on; its bundle can no longer change."""
    return await move(tx, build, BuildState.QUEUED, sealed_at=func.now())


async def set_plan_job(tx: Tx, build_id: BuildId, plan_job_id: JobId | None) -> None:
    """Remember the job that plans the build."""
    await tx.execute(
        update(BuildRow).where(BuildRow.id == build_id).values(plan_job_id=plan_job_id)
    )


async def count_down(tx: Tx, build_id: BuildId, generation: int, closed: int) -> Build | None:
    """Take closed shards off the build's open ones; None: they were of an older generation."""
    rows = await tx.execute(
        update(BuildRow)
        .where(BuildRow.id == build_id, BuildRow.generation == generation)
        .values(open_shards=BuildRow.open_shards - closed)
        .returning(*COLUMNS)
    )
    row = rows.one_or_none()
    return None if row is None else _build(row)


async def set_finalise_job(tx: Tx, build: Build, job_id: JobId) -> None:
    """Set the build's finalise job, which is set once a generation."""
    done = await tx.execute(
        update(BuildRow)
        .where(
            BuildRow.id == build.id,
            BuildRow.generation == build.generation,
            BuildRow.finalise_job_id.is_(None),
        )
        .values(finalise_job_id=job_id)
    )
    assert done.rowcount == 1, "the counter of open shards reaches zero once a generation"


async def ancestor_of(tx: Tx, build: Build, default_branch: str) -> Build | None:
    """Return the build to compare with: by build order, never by when it was decided.

    The ended build with the highest number below this one on its branch that was planned, else on
    the default branch. One cancelled in upload, or whose plan failed, was never planned.
    """
    for branch in dict.fromkeys((build.branch, default_branch)):
        rows = await tx.execute(
            select(*COLUMNS)
            .where(
                BuildRow.project_id == build.project_id,
                BuildRow.branch == branch,
                BuildRow.number < build.number,
                BuildRow.planned_at.is_not(None),
                BuildRow.ended_at.is_not(None),
            )
            .order_by(BuildRow.number.desc())
            .limit(1)
        )
        if row := rows.one_or_none():
            return _build(row)
    return None


async def is_first(tx: Tx, build: Build) -> bool:
    """Return whether no build before this one was planned, but for cancelled and failed ones."""
    earlier = await tx.execute(
        select(
            exists().where(
                BuildRow.project_id == build.project_id,
                BuildRow.number < build.number,
                BuildRow.planned_at.is_not(None),
                BuildRow.state.not_in([BuildState.CANCELLED, BuildState.FAILED]),
            )
        )
    )
    return not earlier.scalar_one()


async def older_unended(tx: Tx, build: Build) -> Sequence[Build]:
    """Return unfinished builds of the same branch that were opened before this one."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(
            BuildRow.project_id == build.project_id,
            BuildRow.branch == build.branch,
            BuildRow.number < build.number,
            BuildRow.ended_at.is_(None),
        )
        .order_by(BuildRow.id)
    )
    return [_build(row) for row in rows]


async def stale_uploads(tx: Tx, after: timedelta, limit: int) -> Sequence[Build]:
    """Lock and return builds whose upload began too long ago; those locked elsewhere can wait."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(
            BuildRow.ended_at.is_(None),  # the partial index of unended builds
            BuildRow.state == BuildState.UPLOADING,
            BuildRow.created_at < func.now() - literal(after),
        )
        .order_by(BuildRow.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return [_build(row) for row in rows]


async def left_running(tx: Tx, limit: int) -> Sequence[Build]:
    """Return builds that moved on while jobs of an older generation of theirs were left alone.

    Asked of the queue's table, which is small: builds are as many as there ever were.
    """
    was_left = (
        exists()
        .where(JobRow.build_id == BuildRow.id)
        .where(JobRow.generation < BuildRow.generation)
        .where(JobRow.cancel_requested_at.is_(None))
    )
    rows = await tx.execute(
        select(*COLUMNS).where(BuildRow.generation > 1, was_left).order_by(BuildRow.id).limit(limit)
    )
    return [_build(row) for row in rows]


async def know_environment(tx: Tx, environment: EnvironmentId, facts: Mapping[str, str]) -> None:
    """Write down what an environment's fingerprint stands for."""
    await tx.execute(
        insert(EnvironmentRow)
        .values(id=environment, facts=dict(facts))
        .on_conflict_do_nothing(index_elements=[EnvironmentRow.id])
    )


def _build(row: Row[*tuple[Any, ...]]) -> Build:
    values = dict(zip((field.name for field in fields(Build)), row, strict=True))
    return Build(**{**values, "state": BuildState(row.state)})
