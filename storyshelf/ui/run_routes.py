"""What pages do with a build as a whole and with its shards: cancel, capture again, retry."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from storyshelf.auth.permissions import Action
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.capture_again import cancel_shard, capture_again, retry_shard
from storyshelf.web.caller import CallerFirst, WithBuild, WithParts, WithProject, WithWho, needs
from storyshelf.web.links import Links
from storyshelf.web.numbers import Number

router = APIRouter(
    prefix="/projects/{slug}/builds/{number}",
    include_in_schema=False,
    route_class=CallerFirst,
    dependencies=[needs(Action.RUN)],
    default_response_class=RedirectResponse,
)


async def back_to(request: Request, project: WithProject, build: WithBuild) -> RedirectResponse:
    """Return the way back to the build's page, which a refusal shows too."""
    link = request.state.back = Links().build(project.slug, build.number)
    return RedirectResponse(link, HTTPStatus.SEE_OTHER)


BackToBuild = Annotated[RedirectResponse, Depends(back_to)]


@router.post("/cancel")
async def cancel(
    build: WithBuild, who: WithWho, parts: WithParts, back: BackToBuild
) -> RedirectResponse:
    """Cancel a build that has not ended; what was captured stays visible."""
    why = Cancel(who.actor, f"cancelled by {who.actor}")
    await cancel_build(parts.db, parts.kinds, build.id, why)
    return back


@router.post("/capture-again")
async def again(
    build: WithBuild, who: WithWho, parts: WithParts, back: BackToBuild
) -> RedirectResponse:
    """Plan and capture a broken, failed, incomplete or cancelled build anew."""
    await capture_again(parts.db, build.id, who.actor)
    return back


@router.post("/shards/{shard}/retry")
async def retry(
    shard: Number, build: WithBuild, who: WithWho, parts: WithParts, back: BackToBuild
) -> RedirectResponse:
    """Capture what a failed build's shard left undone; its results so far are kept."""
    await retry_shard(parts.db, build.id, shard, who.actor)
    return back


@router.post("/shards/{shard}/cancel")
async def cancel_one_shard(
    shard: Number, build: WithBuild, who: WithWho, parts: WithParts, back: BackToBuild
) -> RedirectResponse:
    """End an open shard without its missing results; the build will count it as failed."""
    await cancel_shard(parts.db, parts.kinds, build, shard, who.actor)
    return back
