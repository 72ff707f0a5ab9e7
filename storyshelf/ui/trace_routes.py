"""A snapshot's trace: asked for by a form, looked at on the project's content host."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse

from storyshelf.auth.permissions import Action
from storyshelf.ids import SnapshotId
from storyshelf.projects.project import Project
from storyshelf.traces.record import record_trace
from storyshelf.traces.store import recorded_in
from storyshelf.traces.trace import NoSuchTraceError
from storyshelf.ui.storybook_links import WithGuide
from storyshelf.web.caller import CallerFirst, WithBuild, WithParts, WithProject, WithWho, needs
from storyshelf.web.links import Links, with_query
from storyshelf.web.numbers import BigId
from storyshelf.web.own_path import MAX_PATH, own_path
from storyshelf.wiring import Parts

router = APIRouter(
    prefix="/projects/{slug}/builds/{number}/snapshots/{snapshot_id}",
    include_in_schema=False,
    route_class=CallerFirst,
    default_response_class=RedirectResponse,
)


async def back_to(
    request: Request,
    snapshot_id: BigId,
    project: WithProject,
    build: WithBuild,
    then: Annotated[str, Form(max_length=MAX_PATH)] = "",
) -> RedirectResponse:
    """Return the way back to where the form was sent from, which a refusal shows too."""
    snapshot = Links().snapshot(project.slug, build.number, SnapshotId(snapshot_id))
    link = request.state.back = own_path(then, otherwise=snapshot)
    return RedirectResponse(f"{link}#trace", HTTPStatus.SEE_OTHER)


BackToSnapshot = Annotated[RedirectResponse, Depends(back_to)]


@router.post("/trace", dependencies=[needs(Action.RUN)])
async def ask(
    snapshot_id: BigId, build: WithBuild, who: WithWho, parts: WithParts, back: BackToSnapshot
) -> RedirectResponse:
    """Have the snapshot's story recorded, and lead back."""
    await record_trace(parts.db, build, SnapshotId(snapshot_id), who.actor)
    return back


@router.get("/trace", dependencies=[needs(Action.VIEW)])
async def look(
    snapshot_id: BigId, project: WithProject, parts: WithParts, guide: WithGuide
) -> RedirectResponse:
    """Lead to where the trace is shown."""
    file = await _file_of(parts, project, SnapshotId(snapshot_id))
    return guide.to_path(with_query("/trace-viewer/index.html", {"trace": file}))


@router.get("/trace.zip", dependencies=[needs(Action.VIEW)])
async def download(
    snapshot_id: BigId, project: WithProject, parts: WithParts, guide: WithGuide
) -> RedirectResponse:
    """Lead to the trace as a file."""
    return guide.to_path(await _file_of(parts, project, SnapshotId(snapshot_id)))


async def _file_of(parts: Parts, project: Project, snapshot_id: SnapshotId) -> str:
    """Return the trace's path on the project's content host; raises NoSuchTraceError."""
    async with parts.db.transaction() as tx:
        if await recorded_in(tx, project.id, snapshot_id) is None:
            raise NoSuchTraceError(snapshot_id)
    return f"/traces/{snapshot_id}.zip"
