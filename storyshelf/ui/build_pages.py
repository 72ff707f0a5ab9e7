"""The routes of a build's page: what a request asks for is read in one transaction."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from storyshelf.auth.permissions import Action
from storyshelf.builds.build import Build
from storyshelf.builds.environment_store import facts_of
from storyshelf.db.engine import Tx
from storyshelf.deliveries.store import of_build
from storyshelf.ids import BlobKey, SnapshotId
from storyshelf.projects.project import Project
from storyshelf.review import read, strip
from storyshelf.review.read import SnapshotView
from storyshelf.ui.choice import Choice, Trail
from storyshelf.ui.render import render
from storyshelf.ui.view_models.build import BuildPage, Read, build_page
from storyshelf.ui.view_models.cards import SHOWN_OF_EACH
from storyshelf.ui.view_models.filters import changed
from storyshelf.web.caller import WithBuild, WithParts, WithProject, needs, parts_of, visitor_of
from storyshelf.web.images import thumbnail_answer
from storyshelf.web.paging import cursor_of, page_of, parse_cursor

router = APIRouter(
    include_in_schema=False,
    default_response_class=HTMLResponse,
    dependencies=[needs(Action.VIEW)],
)


@router.get("/projects/{slug}/builds/{number}")
async def show_build(
    request: Request, project: WithProject, build: WithBuild, choice: Annotated[Choice, Query()]
) -> HTMLResponse:
    """Show a build with its snapshots by verdict."""
    return render(request, "build.html", await _page(request, project, build, choice))


@router.get("/projects/{slug}/builds/{number}/live")
async def show_live_part(
    request: Request, project: WithProject, build: WithBuild, choice: Annotated[Choice, Query()]
) -> HTMLResponse:
    """Return what moves on a build's page, for the script that keeps it fresh in place."""
    return render(request, "live.html", await _page(request, project, build, choice))


@router.get("/projects/{slug}/thumbnails/{sha256}")
async def show_thumbnail(
    sha256: str, project: WithProject, parts: WithParts, request: Request
) -> Response:
    """Return a picture made small."""
    return await thumbnail_answer(parts, project, BlobKey(sha256), request)


async def _page(request: Request, project: Project, build: Build, choice: Choice) -> BuildPage:
    parts = parts_of(request)
    who, now = await visitor_of(request, parts), parts.clock.now()
    trail = Trail(project.slug, build.number, choice)
    async with parts.db.transaction() as tx:
        view = await read.build_view(tx, build)
        snapshots, next_link = await _snapshots(tx, build, trail)
        every_verdict = choice.model_copy(update={"verdict": ""})
        found = Read(
            who=who,
            snapshots=snapshots,
            next_link=next_link,
            counts=await strip.counts(tx, build, every_verdict.among),
            last=await strip.last_taken(tx, build, who.actor),
            shards=await read.shard_views(tx, build),
            facts=await facts_of(tx, build.environment_id),
            deliveries=await of_build(tx, build.id),
        )
    return build_page(project, trail, view, found, now)


async def _snapshots(
    tx: Tx, build: Build, trail: Trail
) -> tuple[Sequence[SnapshotView], str | None]:
    """Return what the page shows, and where its list goes on if it is of one verdict."""
    choice = trail.choice
    if not choice.verdict:
        first = await strip.first_of_each_verdict(tx, build, choice.among, SHOWN_OF_EACH)
        return first, None
    after = None
    if choice.after is not None:
        title, last = parse_cursor(choice.after, str, int)
        after = strip.Place(str(title), SnapshotId(int(last)))
    found = await strip.page(tx, build, choice.among, SHOWN_OF_EACH + 1, after=after)
    page, more = page_of(found, SHOWN_OF_EACH, lambda one: cursor_of(one.title, one.id))
    return page, changed(trail, after=more) if more else None
