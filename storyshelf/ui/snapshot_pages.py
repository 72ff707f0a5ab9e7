"""The routes of a snapshot's page, and of the pictures that pages show."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from storyshelf.auth.permissions import Action
from storyshelf.builds.build import Build
from storyshelf.builds.environment_store import facts_of
from storyshelf.db.engine import Tx
from storyshelf.ids import BlobKey, EnvironmentId, SnapshotId
from storyshelf.review import strip
from storyshelf.review.read import examined_of, shard_of, snapshot_view
from storyshelf.snapshots import steadiness_store
from storyshelf.traces.store import trace_of
from storyshelf.ui.choice import Choice, Trail
from storyshelf.ui.render import render
from storyshelf.ui.view_models.filmstrip import EACH_SIDE
from storyshelf.ui.view_models.snapshot import Read, snapshot_page
from storyshelf.web.caller import WithBuild, WithParts, WithProject, needs, parts_of, visitor_of
from storyshelf.web.images import image_answer
from storyshelf.web.numbers import BigId

router = APIRouter(
    include_in_schema=False,
    default_response_class=HTMLResponse,
    dependencies=[needs(Action.VIEW)],
)


@router.get("/projects/{slug}/builds/{number}/snapshots/{snapshot_id}")
async def show_snapshot(
    request: Request,
    snapshot_id: BigId,
    project: WithProject,
    build: WithBuild,
    choice: Annotated[Choice, Query()],
) -> HTMLResponse:
    """Show a snapshot with everything that explains it, and what is reviewed before and after."""
    parts = parts_of(request)
    who = await visitor_of(request, parts)
    async with parts.db.transaction() as tx:
        found = await _read(tx, build, SnapshotId(snapshot_id), choice)
    trail = Trail(project.slug, build.number, choice)
    page = snapshot_page(project, trail, found, who, parts.clock.now())
    return render(request, "snapshot.html", page)


@router.get("/projects/{slug}/images/{sha256}")
async def show_image(
    sha256: str, project: WithProject, parts: WithParts, request: Request
) -> Response:
    """Return a picture, mask or frame."""
    return await image_answer(parts, project, BlobKey(sha256), request)


async def _read(tx: Tx, build: Build, here: SnapshotId, choice: Choice) -> Read:
    window = await strip.around(tx, build, choice.among, here, EACH_SIDE)
    waits = await strip.next_undecided(tx, build, here, choice.among)
    snapshot = window.snapshots[window.at]
    environment = snapshot.environment
    return Read(
        window=window,
        counts=await strip.counts(tx, build, choice.among),
        waits=None if waits is None else await snapshot_view(tx, build, waits),
        shard=await shard_of(tx, snapshot),
        facts=await facts_of(tx, EnvironmentId(environment) if environment else None),
        examined=await examined_of(tx, here),
        steadiness=await steadiness_store.of(tx, build.project_id, snapshot.key),
        trace=await trace_of(tx, snapshot.id),
    )
