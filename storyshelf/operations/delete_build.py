"""Delete a build: its running work first, then everything that belongs to it.

Nobody is waited for. The build's jobs are removed with it, so that a consumer which is still at
work has lost its lease, and what it brings is not written. Its blobs are left for the sweep.
A check that still waits for its decisions is told that it was cancelled.

Locks are taken in the order of everybody else: jobs, shards, builds, snapshots, and what was said
of the build. The builds whose rows change too are locked along. What came up while one lock was
waited for undoes the try, and the next begins with all of it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from storyshelf.audit import store as audit
from storyshelf.builds import store as builds
from storyshelf.builds.build import Build, BuildGoneError, BuildMovedError, BuildState
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.jobs import CAPTURE, FINALISE, PLAN
from storyshelf.builds.store import BuildFilter
from storyshelf.db.engine import Database, Tx
from storyshelf.deliveries.withdraw import withdraw
from storyshelf.errors import ConflictError
from storyshelf.ids import BuildId
from storyshelf.operations import store
from storyshelf.operations.uses import User
from storyshelf.projects import store as projects
from storyshelf.queue import store as queue
from storyshelf.queue.job_kind import JobKinds

KINDS = (PLAN, CAPTURE, FINALISE)  # a delivery is of its connection, and outlives the build
TRIES = 10  # each is undone only by somebody who did something to the build meanwhile
NAMED = 10  # builds in an error
NOT_PLANNED = (BuildState.UPLOADING, BuildState.QUEUED, BuildState.PLANNING)
LOOKED_AT = 200  # of builds that wait; one that is missed only has its plan made twice


def no_user(_user: User) -> bool:
    """Say of no use that it may be passed over."""
    return False


class BuildInUseError(ConflictError):
    """Other builds need the pictures of this one."""

    def __init__(self, number: int, users: Sequence[int]) -> None:
        named = ", ".join(str(user) for user in users[:NAMED])
        more = f" and {len(users) - NAMED} more" if len(users) > NAMED else ""
        super().__init__(
            f"The build cannot be deleted: other builds are compared with it: {named}{more}",
            where=f"build {number}",
            next_step="Delete those first, the newest before the others.",
        )


class BuildBusyError(ConflictError):
    """Something is done to the build all the time."""

    def __init__(self, build_id: BuildId) -> None:
        super().__init__(
            "The build could not be deleted: it was changed again and again meanwhile",
            where=f"build id {build_id}",
            next_step="Try again in a moment.",
        )


class _TryAgainError(Exception):
    """What was looked at before the locks has changed."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Who deletes a build and why, and what use by others does not keep it."""

    actor: str
    reason: str
    despite: Callable[[User], bool] = no_user


async def delete_build(db: Database, kinds: JobKinds, build: Build, why: Deletion) -> None:
    """Delete a build that no other one needs; one that is gone already is no error.

    Raises BuildInUseError, with nothing done, and BuildBusyError.
    """
    async with db.transaction() as tx:
        await _require_unused(tx, build, why)
    for _ in range(TRIES):
        try:
            await _end(db, kinds, build, why)
            async with db.transaction() as tx:
                await _remove(tx, build, why)
        except _TryAgainError:
            continue
        except BuildGoneError:
            return
        return
    raise BuildBusyError(build.id)


async def _end(db: Database, kinds: JobKinds, build: Build, why: Deletion) -> None:
    try:
        await cancel_build(db, kinds, build.id, Cancel(why.actor, why.reason))
    except BuildMovedError:
        return  # it has ended by itself


async def _remove(tx: Tx, build: Build, why: Deletion) -> None:
    await queue.remove_build_jobs(tx, build.id, KINDS)
    relatives = await store.relatives_of(tx, build.id)
    await store.lock_builds(tx, relatives)
    locked = await builds.lock(tx, build.id)
    await store.lock_snapshots(tx, build.id)
    is_as_it_was = await store.relatives_of(tx, build.id) <= relatives
    if not (locked.has_ended and is_as_it_was) or await queue.has_build_jobs(tx, build.id, KINDS):
        raise _TryAgainError
    await _require_unused(tx, locked, why)
    await queue.remove_ended_jobs(tx, build.id, KINDS)
    await withdraw(tx, build.project_id, build.id)
    await builds.remove(tx, locked)
    detail = {"build": build.number, "branch": build.branch, "reason": why.reason}
    event = audit.Event(why.actor, "build.delete", build.project_id, build.id, detail)
    await audit.record(tx, event)


async def users_of(
    tx: Tx, build: Build, despite: Callable[[User], bool] = no_user
) -> Sequence[int]:
    """Return the numbers of the builds that need this one, in order."""
    users = [user for user in await store.users_of(tx, build.id) if not despite(user)]
    return sorted({user.number for user in users} | set(await _waiting_for(tx, build)))


async def _require_unused(tx: Tx, build: Build, why: Deletion) -> None:
    if users := await users_of(tx, build, why.despite):
        raise BuildInUseError(build.number, users)


async def _waiting_for(tx: Tx, build: Build) -> Collection[int]:
    """Return the builds that are about to be planned and compared with this one."""
    project = await projects.by_id(tx, build.project_id)
    waiting = []
    for state in NOT_PLANNED:
        shown = BuildFilter(state=state)
        for other in await builds.page(tx, project.id, shown, before=None, limit=LOOKED_AT):
            ancestor = await builds.ancestor_of(tx, other, project.default_branch)
            if ancestor is not None and ancestor.id == build.id:
                waiting.append(other.number)
    return waiting
