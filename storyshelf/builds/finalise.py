"""End a build: count what it has, reduce it to a state."""

from storyshelf.builds import moving, shard_store, store
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import BuildPayload
from storyshelf.builds.reduce import reduce
from storyshelf.db.engine import Tx
from storyshelf.snapshots import store as snapshots


async def finalise(tx: Tx, payload: BuildPayload) -> None:
    """Give the build its state, unless it moved on meanwhile; running it twice changes nothing."""
    build = await store.lock(tx, payload.build_id)
    if build.state is not BuildState.CAPTURING or build.generation != payload.generation:
        return
    ended = reduce(
        await snapshots.counts(tx, build.id, build.planned_generation),
        await shard_store.count_unsuccessful(tx, build.id, build.generation),
    )
    await moving.move(tx, build, ended.state, state_reason=ended.reason)
