"""Delete a project with everything of it, in steps that may be cut off anywhere.

First it is marked, and from then on nobody sees it: neither pages nor tokens find it, and no build
is opened. Then its builds go, one a transaction, the newest before those that it was compared with.
Then it waits until their open checks have been told that nobody will decide them, for a while at
most, and the rest goes too, its slug last. Whatever cuts this off, the housekeeping of any process
goes on with it. What was audited of the project stays, with who deleted it.
"""

from datetime import timedelta

from storyshelf.audit import store as audit
from storyshelf.builds import store as builds
from storyshelf.builds.build import BuildGoneError
from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.operations import store
from storyshelf.operations.delete_build import Deletion, delete_build
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.queue import store as queue
from storyshelf.queue.job_kind import JobKinds
from storyshelf.storage import store as blob_rows

WITH_PROJECT = Deletion(
    "rule: project deleted", "the project is being deleted", despite=lambda _user: True
)
SAYING = timedelta(minutes=15)  # a forge that does not answer does not keep what is deleted
AT_ONCE = 20  # projects of one pass; the next comes soon


async def delete_project(db: Database, kinds: JobKinds, project: Project, actor: str) -> None:
    """Delete a project and all of it, but for what it still has to say; see above."""
    await begin_deleting(db, project, actor)
    await finish_deleting(db, kinds, project.id)


async def begin_deleting(db: Database, project: Project, actor: str) -> None:
    """Mark a project, so that nobody sees it from now on; `finish_deleting` does the rest."""
    async with db.transaction() as tx:
        await projects.lock(tx, project.id)
        await projects.begin_deleting(tx, project.id)
        detail = {"slug": project.slug, "name": project.name}
        await audit.record(tx, audit.Event(actor, "project.delete", project.id, detail=detail))


async def finish_deletions(db: Database, kinds: JobKinds) -> None:
    """Go on with deletions that were cut off, or that another process is at."""
    async with db.transaction() as tx:
        begun = await projects.being_deleted(tx, AT_ONCE)
    for project_id in begun:
        await finish_deleting(db, kinds, project_id)


async def finish_deleting(db: Database, kinds: JobKinds, project_id: ProjectId) -> None:
    """Delete what is left of a project that is marked; safe in any number of processes at once.

    While its last words are on their way it is left for the next pass.
    """
    while await _delete_newest(db, kinds, project_id):
        pass
    async with db.transaction() as tx:
        if await store.is_still_saying(tx, project_id, SAYING):
            return
        await queue.remove_project_jobs(tx, project_id)
        await blob_rows.forget_project(tx, project_id)
        await projects.remove(tx, project_id)


async def _delete_newest(db: Database, kinds: JobKinds, project_id: ProjectId) -> bool:
    async with db.transaction() as tx:
        newest = await store.newest_build(tx, project_id)
        if newest is None:
            return False
        try:
            build = await builds.lock(tx, newest)
        except BuildGoneError:
            return True
    await delete_build(db, kinds, build, WITH_PROJECT)
    return True
