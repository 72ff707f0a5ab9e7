"""The pages' routes: what a request asks for is read in one transaction and put into words."""

from typing import Annotated, Literal

from fastapi import APIRouter, FastAPI, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.builds import store as builds
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.store import BuildFilter
from storyshelf.db.engine import Tx
from storyshelf.ids import BlobKey, SnapshotId
from storyshelf.projects import store as projects
from storyshelf.projects.project import Project
from storyshelf.review import read
from storyshelf.review.read import BuildView, SnapshotFilter
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui.render import render
from storyshelf.ui.view_models.api import api_page
from storyshelf.ui.view_models.build import BuildPage, Read, Shown, build_page
from storyshelf.ui.view_models.cards import (
    SHOWN_OF_EACH,
    Group,
    group_of,
    groups_of,
    verdict_link,
)
from storyshelf.ui.view_models.project import project_page
from storyshelf.ui.view_models.projects import projects_page
from storyshelf.ui.view_models.snapshot import snapshot_page
from storyshelf.web.caller import WithParts
from storyshelf.web.images import image_answer
from storyshelf.web.links import Links, with_query
from storyshelf.web.numbers import BigId, Number
from storyshelf.web.paging import cursor_of, parse_cursor
from storyshelf.wiring import Parts

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
PROJECTS_A_PAGE = 50
BUILDS_A_PAGE = 30

Slug = Annotated[str, Path(max_length=63)]


class After(BaseModel):
    """Where a list goes on."""

    after: str | None = Field(None, max_length=4_000)


class BuildsQuery(After):
    """The filter of a project's builds; a form sends empty fields along."""

    branch: str = Field("", max_length=500)
    state: BuildState | Literal[""] = ""


class SnapshotsQuery(After):
    """Which of a build's snapshots to show."""

    verdict: Verdict | Literal[""] = ""


@router.get("/")
async def show_projects(parts: WithParts, shown: Annotated[After, Query()]) -> HTMLResponse:
    """Show the projects with their newest builds."""
    after_slug = "" if shown.after is None else str(parse_cursor(shown.after, str)[0])
    async with parts.db.transaction() as tx:
        found = await projects.page(tx, after_slug=after_slug, limit=PROJECTS_A_PAGE + 1)
        newest = await builds.latest_of(tx, [project.id for project in found])
        views = await read.build_views(tx, list(newest.values()))
    here = found[:PROJECTS_A_PAGE]
    more = {"after": cursor_of(here[-1].slug)} if len(found) > PROJECTS_A_PAGE else None
    next_link = with_query(Links().home, more) if more else None
    by_project = {view.build.project_id: view for view in views}
    return render("projects.html", projects_page(here, by_project, next_link, parts.clock.now()))


@router.get("/api/v1/docs")
async def show_api(request: Request) -> HTMLResponse:
    """Show the API's description; nothing of it comes from another server."""
    app: FastAPI = request.app
    return render("api.html", api_page(app.openapi(), app.openapi_url or ""))


@router.get("/projects")
async def lead_to_projects() -> RedirectResponse:
    """Take whoever shortened a project's address to the list of projects."""
    return RedirectResponse(Links().home)


@router.get("/projects/{slug}")
async def show_project(
    slug: Slug, parts: WithParts, shown: Annotated[BuildsQuery, Query()]
) -> HTMLResponse:
    """Show a project's builds, the newest first."""
    before = None if shown.after is None else int(parse_cursor(shown.after, int)[0])
    wanted = BuildFilter(shown.branch or None, shown.state or None)
    async with parts.db.transaction() as tx:
        project = await projects.by_slug(tx, slug)
        found = await builds.page(tx, project.id, wanted, before=before, limit=BUILDS_A_PAGE + 1)
        views = await read.build_views(tx, found[:BUILDS_A_PAGE])
    more = cursor_of(views[-1].build.number) if len(found) > BUILDS_A_PAGE else None
    return render("project.html", project_page(project, wanted, views, more, parts.clock.now()))


@router.get("/projects/{slug}/builds/{number}")
async def show_build(
    slug: Slug, number: Number, parts: WithParts, shown: Annotated[SnapshotsQuery, Query()]
) -> HTMLResponse:
    """Show a build with its snapshots by verdict."""
    return render("build.html", await _build_page(parts, slug, number, shown))


@router.get("/projects/{slug}/builds/{number}/live")
async def show_live_part(
    slug: Slug, number: Number, parts: WithParts, shown: Annotated[SnapshotsQuery, Query()]
) -> HTMLResponse:
    """Return what moves on a build's page, for the script that keeps it fresh in place."""
    return render("build_live.html", await _build_page(parts, slug, number, shown))


@router.get("/projects/{slug}/builds/{number}/snapshots/{snapshot_id}")
async def show_snapshot(
    slug: Slug, number: Number, snapshot_id: BigId, parts: WithParts
) -> HTMLResponse:
    """Show a snapshot with everything that explains it."""
    async with parts.db.transaction() as tx:
        project, build = await _named(tx, slug, number)
        snapshot = await read.snapshot_view(tx, build, SnapshotId(snapshot_id))
        beside = await read.neighbours(tx, build, snapshot)
    page = snapshot_page(project, build, snapshot, beside, parts.clock.now())
    return render("snapshot.html", page)


@router.get("/projects/{slug}/images/{sha256}")
async def show_image(slug: Slug, sha256: str, parts: WithParts, request: Request) -> Response:
    """Return a picture, mask or frame."""
    async with parts.db.transaction() as tx:
        project = await projects.by_slug(tx, slug)
    return await image_answer(parts, project, BlobKey(sha256), request)


async def _named(tx: Tx, slug: str, number: int) -> tuple[Project, Build]:
    project = await projects.by_slug(tx, slug)
    return project, await builds.by_number(tx, project, number)


async def _build_page(parts: Parts, slug: str, number: int, shown: SnapshotsQuery) -> BuildPage:
    now = parts.clock.now()
    async with parts.db.transaction() as tx:
        project, build = await _named(tx, slug, number)
        view = await read.build_view(tx, build, now)
        found = Read(
            groups=await _groups(tx, slug, view, shown),
            shards=await read.shard_views(tx, build),
            facts=await builds.facts_of(tx, build.environment_id),
        )
    return build_page(project, view, Shown(shown.verdict or None, shown.after), found, now)


async def _groups(tx: Tx, slug: str, view: BuildView, shown: SnapshotsQuery) -> list[Group]:
    build, verdict = view.build, shown.verdict
    if not verdict:
        first = await read.first_of_each_verdict(tx, build, SHOWN_OF_EACH)
        return list(groups_of(slug, view, first))
    after = None
    if shown.after is not None:
        title, last = parse_cursor(shown.after, str, int)
        after = (str(title), SnapshotId(int(last)))
    found = await read.snapshot_page(tx, build, SnapshotFilter(verdict, after), SHOWN_OF_EACH + 1)
    page, rest = found[:SHOWN_OF_EACH], None
    if len(found) > SHOWN_OF_EACH:
        cursor = cursor_of(page[-1].title, page[-1].id)
        rest = verdict_link(slug, build.number, verdict, cursor)
    return [group_of(slug, view, verdict, page, rest)] if page else []
