"""What every process ends on its timer: uploads given up, cancels left half done, old sessions."""

from collections.abc import Sequence
from datetime import timedelta

import structlog

from storyshelf.auth import session_store as sessions
from storyshelf.builds import watch_store
from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.expire import expire_uploads
from storyshelf.db.engine import Database
from storyshelf.operations.delete_project import finish_deletions
from storyshelf.projects import store as projects
from storyshelf.queue.expiry import Chore
from storyshelf.queue.job_kind import JobKinds

ENDED_SESSIONS_KEPT = timedelta(days=7)  # for whoever asks how somebody was signed in

log = structlog.get_logger(__name__)


def passes(db: Database, kinds: JobKinds, upload_expires: timedelta) -> Sequence[Chore]:
    """Return the passes; each is safe in any number of processes at once."""

    async def end_uploads() -> None:
        for build in await expire_uploads(db, upload_expires):
            log.info("build.upload_expired", build=build.id, project=build.project_id)

    async def end_cancelled() -> None:
        await sweep_cancelled(db, kinds)

    async def forget_sessions() -> None:
        async with db.transaction() as tx:
            await sessions.remove_ended(tx, ENDED_SESSIONS_KEPT)

    async def end_deletions() -> None:
        await finish_deletions(db, kinds)

    return (
        Chore(lambda tx: watch_store.any_stale_upload(tx, upload_expires), end_uploads),
        Chore(lambda tx: watch_store.left_running(tx, limit=1), end_cancelled),
        Chore(lambda tx: sessions.any_ended(tx, ENDED_SESSIONS_KEPT), forget_sessions),
        Chore(lambda tx: projects.being_deleted(tx, limit=1), end_deletions),
    )
