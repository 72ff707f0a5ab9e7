"""What every process ends on its expiry timer: uploads given up, and cancels left half done."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import structlog

from storyshelf.builds.cancel_build import sweep_cancelled
from storyshelf.builds.expire import expire_uploads
from storyshelf.db.engine import Database
from storyshelf.queue.job_kind import JobKinds

log = structlog.get_logger(__name__)


def passes(
    db: Database, kinds: JobKinds, upload_expires: timedelta
) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return the passes; each is safe in any number of processes at once."""

    async def end_uploads() -> None:
        for build in await expire_uploads(db, upload_expires):
            log.info("build.upload_expired", build=build.id, project=build.project_id)

    async def end_cancelled() -> None:
        await sweep_cancelled(db, kinds)

    return (end_uploads, end_cancelled)
