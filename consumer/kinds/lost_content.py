"""What the storage lost is asked for again: else every upload would think that it is there."""

from typing import Any

import structlog

from storyshelf.db.engine import Database
from storyshelf.queue.job_kind import Handle, Work
from storyshelf.storage import store as blob_rows
from storyshelf.storage.blobs import MissingBlobError

log = structlog.get_logger()


def noting_lost_content(db: Database, handle: Handle) -> Handle:
    """Return the handler with this besides: a content that is gone is written down as such.

    The attempt fails all the same. The next upload that names the content sends it again, and by
    that mends the builds that named it before.
    """

    async def handled(work: Work, parsed: Any) -> Any:
        try:
            return await handle(work, parsed)
        except MissingBlobError as error:
            log.error("storage.lost", key=error.key)  # noqa: TRY400  # where it is raised is known
            async with db.transaction() as tx:
                await blob_rows.forget(tx, error.key)
            raise

    return handled
