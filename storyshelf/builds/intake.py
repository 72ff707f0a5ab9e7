"""Take a build in: open it, receive its files, seal it. Every step may be repeated."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from storyshelf.builds import moving, store
from storyshelf.builds.build import (
    Build,
    BuildState,
    KeyReusedError,
    MissingBlobsError,
    NotInManifestError,
    NotUploadingError,
)
from storyshelf.builds.jobs import plan_job
from storyshelf.builds.store import NewBuild
from storyshelf.bundle.index import find_index, parse_index
from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import BadInputError
from storyshelf.ids import BlobKey
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.queue import store as queue
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import Blobs


@dataclass(frozen=True, slots=True)
class Opened:
    """An open build, and the contents that are still to be sent."""

    build: Build
    missing: Sequence[BlobKey]
    was_there: bool


async def open_build(db: Database, project: Project, new: NewBuild, manifest: Manifest) -> Opened:
    """Open a build, or return the one that this key opened before.

    Raises KeyReusedError when the key came with another commit, branch or manifest; NoIndexError
    or NoFrameError when the files cannot be a built Storybook.
    """
    find_index(manifest)
    async with db.transaction() as tx:
        await projects.lock(tx, project.id)  # two requests with one key come one after the other
        known = await store.by_key(tx, project.id, new.idempotency_key)
        if known is not None:
            await _require_same(tx, known, new, manifest.files)
            return Opened(known, await store.missing_files(tx, known), was_there=True)
        number = await projects.take_build_number(tx, project.id)
        build = await moving.add(tx, project.id, number, new)
        await store.add_files(tx, build.id, manifest.files)
        await blob_rows.use_again(tx, build.id)  # what is not missing now must not be swept later
        return Opened(build, await store.missing_files(tx, build), was_there=False)


async def has_file(db: Database, build: Build, key: BlobKey) -> bool:
    """Return whether the project has this file of the manifest already.

    Raises NotInManifestError for a content the build does not ask for.
    """
    async with db.transaction() as tx:
        if await store.file_size(tx, build.id, key) is None:
            raise NotInManifestError(build.number, key)
        return await blob_rows.belongs_to(tx, build.project_id, key)


async def receive_file(
    db: Database, blobs: Blobs, build: Build, key: BlobKey, chunks: AsyncIterator[bytes]
) -> None:
    """Store one file of the manifest, whole and checked or not at all.

    Raises NotUploadingError, NotInManifestError, WrongContentError, and BuildGoneError when it
    was deleted meanwhile.
    """
    async with db.transaction() as tx:
        size_bytes = await store.file_size(tx, build.id, key)
    if size_bytes is None:
        raise NotInManifestError(build.number, key)
    if build.state is not BuildState.UPLOADING:
        raise NotUploadingError(build)
    await blobs.receive(key, size_bytes, chunks)
    async with db.transaction() as tx:  # after the sync: a row that names a blob can be believed
        await store.hold(tx, build.id)
        await blob_rows.remember(tx, build.project_id, {key: size_bytes})


async def seal(db: Database, blobs: Blobs, build: Build) -> Build:
    """End the upload and enqueue the plan; a build that is sealed already is returned as it is.

    Raises MissingBlobsError while files are missing; an index without stories, or one that cannot
    be read, ends the build as cancelled with that reason, and its error is raised.
    """
    if build.state is not BuildState.UPLOADING:
        return _sealed(build)
    async with db.transaction() as tx:
        await _require_whole(tx, build)
        files = await store.files_of(tx, build.id)
    try:
        await _require_stories(blobs, files)
    except BadInputError as error:
        await _refuse(db, build, error)
        raise
    async with db.transaction() as tx:
        locked = await store.lock(tx, build.id)
        if locked.state is not BuildState.UPLOADING:
            return _sealed(locked)
        await _require_whole(tx, locked)
        sealed = await moving.seal(tx, locked)
        (job_id,) = await queue.enqueue(tx, [plan_job(sealed)])
        await store.set_plan_job(tx, sealed.id, job_id)
        return sealed


def _sealed(build: Build) -> Build:
    if build.sealed_at is None:
        raise NotUploadingError(build)
    return build


async def _require_same(tx: Tx, known: Build, new: NewBuild, files: Sequence[BundledFile]) -> None:
    is_same = (known.commit, known.branch) == (new.commit, new.branch)
    if not is_same or tuple(files) != await store.files_of(tx, known.id):
        raise KeyReusedError(known.number)


async def _require_whole(tx: Tx, build: Build) -> None:
    if missing := await store.missing_files(tx, build):
        raise MissingBlobsError(build.number, missing)


async def _require_stories(blobs: Blobs, files: Sequence[BundledFile]) -> None:
    index = find_index(Manifest(tuple(files)))
    parse_index(await blobs.read(index.sha256), index.path)


async def _refuse(db: Database, build: Build, error: BadInputError) -> None:
    async with db.transaction() as tx:
        locked = await store.lock(tx, build.id)
        if locked.state is BuildState.UPLOADING:
            await moving.move(tx, locked, BuildState.CANCELLED, state_reason=str(error))
