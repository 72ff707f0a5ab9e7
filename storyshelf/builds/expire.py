"""End what nobody will end otherwise: uploads that were given up."""

from datetime import timedelta

from storyshelf.builds import moving, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.db.engine import Database

LIMIT = 100  # of one pass; the next comes soon


async def expire_uploads(db: Database, after: timedelta) -> tuple[Build, ...]:
    """Cancel builds that were opened too long ago and never sealed; return them."""
    hours = after.total_seconds() / 3600
    reason = f"the upload was not sealed within {hours:g} hours"
    async with db.transaction() as tx:
        stale = await store.stale_uploads(tx, after, LIMIT)
        return tuple(
            [await moving.move(tx, b, BuildState.CANCELLED, state_reason=reason) for b in stale]
        )
