"""Shards: listed, retried, cancelled."""

from fastapi import APIRouter

from storyshelf.api.builds import build_out
from storyshelf.api.schemas import OneBuild, ShardList, ShardOut
from storyshelf.auth.permissions import Action
from storyshelf.builds import store
from storyshelf.builds.capture_again import cancel_shard, retry_shard
from storyshelf.review import read
from storyshelf.web.caller import CallerFirst, WithBuild, WithCaller, WithParts, WithProject, needs
from storyshelf.web.numbers import Number

router = APIRouter(
    prefix="/projects/{slug}/builds/{number}/shards",
    tags=["shards"],
    route_class=CallerFirst,
    dependencies=[needs(Action.VIEW)],
)


@router.get("")
async def list_shards(build: WithBuild, parts: WithParts) -> ShardList:
    """Return the build's shards with the attempts at them."""
    async with parts.db.transaction() as tx:
        views = await read.shard_views(tx, build)
    return ShardList(items=[ShardOut.of(view, build.environment_id) for view in views])


@router.post("/{shard}/retry", dependencies=[needs(Action.RUN)])
async def retry(
    shard: Number, project: WithProject, build: WithBuild, caller: WithCaller, parts: WithParts
) -> OneBuild:
    """Capture what a failed build's shard left undone; its results so far are kept."""
    capturing = await retry_shard(parts.db, build.id, shard, caller.actor)
    return OneBuild(build=await build_out(parts, project, capturing))


@router.post("/{shard}/cancel", dependencies=[needs(Action.RUN)])
async def cancel(
    shard: Number, project: WithProject, build: WithBuild, caller: WithCaller, parts: WithParts
) -> OneBuild:
    """End an open shard without its missing results; the build will count it as failed."""
    await cancel_shard(parts.db, parts.kinds, build, shard, caller.actor)
    async with parts.db.transaction() as tx:
        fresh = await store.by_id(tx, build.id)
    return OneBuild(build=await build_out(parts, project, fresh))
