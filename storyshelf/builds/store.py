"""All SQL of builds and their bundle files."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, delete, exists, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.builds.build import (
    NEXT_STATES,
    UNENDED,
    Build,
    BuildGoneError,
    BuildMovedError,
    BuildState,
    CiRun,
    NoSuchBuildError,
)
from storyshelf.bundle.manifest import BundledFile
from storyshelf.db.engine import Tx
from storyshelf.db.tables import (
    BuildRow,
    BundleFileRow,
    ProjectBlobRow,
)
from storyshelf.ids import BlobKey, BuildId, EnvironmentId, JobId, ProjectId
from storyshelf.projects.project import Project
from storyshelf.queue.job import Trace

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
    pull_request: int | None = None
    ci: CiRun = field(default_factory=CiRun)
    trace: Trace = field(default_factory=Trace)


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
            pull_request=new.pull_request,
            ci=asdict(new.ci),
            request_id=new.trace.request_id,
            traceparent=new.trace.traceparent,
        )
        .returning(*COLUMNS)
    )
    return build_of(made.one())


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
    return build_of(row)


async def by_key(tx: Tx, project_id: ProjectId, idempotency_key: str) -> Build | None:
    """Return the build that was opened with the key."""
    rows = await tx.execute(
        select(*COLUMNS).where(
            BuildRow.project_id == project_id, BuildRow.idempotency_key == idempotency_key
        )
    )
    row = rows.one_or_none()
    return None if row is None else build_of(row)


async def by_id(tx: Tx, build_id: BuildId) -> Build:
    """Return a build that was found before; raises BuildGoneError when it was deleted since."""
    rows = await tx.execute(select(*COLUMNS).where(BuildRow.id == build_id))
    if (row := rows.one_or_none()) is None:
        raise BuildGoneError(build_id)
    return build_of(row)


async def lock(tx: Tx, build_id: BuildId) -> Build:
    """Return the build with its row locked: nobody else moves it until this transaction ends.

    Raises BuildGoneError when it was deleted.
    """
    rows = await tx.execute(select(*COLUMNS).where(BuildRow.id == build_id).with_for_update())
    if (row := rows.one_or_none()) is None:
        raise BuildGoneError(build_id)
    return build_of(row)


async def hold(tx: Tx, build_id: BuildId) -> None:
    """Keep the build from being deleted until this transaction ends; raises BuildGoneError."""
    held = select(BuildRow.id).where(BuildRow.id == build_id)
    rows = await tx.execute(held.with_for_update(read=True, key_share=True))
    if rows.one_or_none() is None:
        raise BuildGoneError(build_id)


@dataclass(frozen=True, slots=True)
class BuildFilter:
    """Which builds a list shows; None shows all."""

    branch: str | None = None
    state: BuildState | None = None
    text: str = ""  # in the message or the author, or what the commit begins with


async def page(
    tx: Tx, project_id: ProjectId, shown: BuildFilter, *, before: int | None, limit: int
) -> Sequence[Build]:
    """Return builds, the newest first, from before the given number."""
    wanted = [BuildRow.project_id == project_id]
    if shown.branch is not None:
        wanted.append(BuildRow.branch == shown.branch)
    if shown.state is not None:
        wanted.append(BuildRow.state == shown.state)
    if shown.text:
        words = func.concat_ws("\n", BuildRow.message, BuildRow.author)
        wanted.append(
            words.icontains(shown.text, autoescape=True)
            | BuildRow.commit.istartswith(shown.text, autoescape=True)
        )
    if before is not None:
        wanted.append(BuildRow.number < before)
    rows = await tx.execute(
        select(*COLUMNS).where(*wanted).order_by(BuildRow.number.desc()).limit(limit)
    )
    return [build_of(row) for row in rows]


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
    return build_of(row)


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a plan fixes for the build."""

    ancestor_id: BuildId | None
    environment: EnvironmentId
    rule: str | None
    warnings: Sequence[str] = ()


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
        warnings=list(pinned.warnings),
    )


async def seal(tx: Tx, build: Build) -> Build:
    """Move an uploaded build on; its bundle can no longer change."""
    return await move(tx, build, BuildState.QUEUED, sealed_at=func.now())


async def set_plan_job(tx: Tx, build_id: BuildId, plan_job_id: JobId | None) -> None:
    """Remember the job that plans the build."""
    await tx.execute(
        update(BuildRow).where(BuildRow.id == build_id).values(plan_job_id=plan_job_id)
    )


@dataclass(frozen=True, slots=True)
class Planning:
    """How often a build was begun or cancelled, the job that planned it last, and what it is."""

    generation: int
    job_id: JobId | None
    state: BuildState


async def planning_of(tx: Tx, build_id: BuildId) -> Planning | None:
    """Return by which job the build is planned, or was last; None: it was deleted."""
    columns = (BuildRow.generation, BuildRow.plan_job_id, BuildRow.state)
    row = (await tx.execute(select(*columns).where(BuildRow.id == build_id))).one_or_none()
    return None if row is None else Planning(row.generation, row.plan_job_id, BuildState(row.state))


async def count_down(tx: Tx, build_id: BuildId, generation: int, closed: int) -> Build | None:
    """Take closed shards off the build's open ones; None: they were of an older generation."""
    rows = await tx.execute(
        update(BuildRow)
        .where(BuildRow.id == build_id, BuildRow.generation == generation)
        .values(open_shards=BuildRow.open_shards - closed)
        .returning(*COLUMNS)
    )
    row = rows.one_or_none()
    return None if row is None else build_of(row)


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


async def set_open_shards(tx: Tx, build: Build, open_shards: int) -> Build:
    """Mend the counter of a build whose row is locked, and forget a finalise job that is none."""
    rows = await tx.execute(
        update(BuildRow)
        .where(BuildRow.id == build.id)
        .values(open_shards=open_shards, finalise_job_id=None)
        .returning(*COLUMNS)
    )
    return build_of(rows.one())


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
            return build_of(row)
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
    return [build_of(row) for row in rows]


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
    return [build_of(row) for row in rows]


async def remove(tx: Tx, build: Build) -> None:
    """Delete a build and all that belongs to it; those compared with it keep its number."""
    compared = update(BuildRow).where(BuildRow.ancestor_build_id == build.id)
    await tx.execute(compared.values(ancestor_build_id=None, deleted_ancestor=build.number))
    await tx.execute(delete(BuildRow).where(BuildRow.id == build.id))


def build_of(row: Row[*tuple[Any, ...]]) -> Build:
    """Return the build of a row with these columns."""
    values = dict(zip((field.name for field in fields(Build)), row, strict=True))
    return Build(**{**values, "state": BuildState(row.state), "ci": CiRun(**row.ci)})
