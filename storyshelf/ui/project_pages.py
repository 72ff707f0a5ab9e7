"""The routes of projects: what a request asks for is read in one transaction and put into words."""

from typing import Annotated, Literal

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from storyshelf.auth.permissions import Action
from storyshelf.builds import list_store
from storyshelf.builds import store as builds
from storyshelf.builds.build import BuildState
from storyshelf.builds.store import BuildFilter
from storyshelf.projects import store as projects
from storyshelf.projects.project import MAX_BRANCH
from storyshelf.projects.store import ProjectFilter
from storyshelf.review import read
from storyshelf.snapshots import steadiness_store
from storyshelf.ui.render import render
from storyshelf.ui.view_models.api import api_page
from storyshelf.ui.view_models.branches import branches_page
from storyshelf.ui.view_models.project import Listed, project_page
from storyshelf.ui.view_models.projects import Found, projects_page
from storyshelf.web.caller import WithParts, WithProject, WithVisitor, needs
from storyshelf.web.links import Links
from storyshelf.web.paging import After, cursor_of, page_of, parse_cursor

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
PROJECTS_A_PAGE = 50
BUILDS_A_PAGE = 30
FLAKIEST = 5  # stories on a project's page; the API lists more
MAX_TEXT = 200

VIEWED = [needs(Action.VIEW)]


class Search(After):
    """A list that is searched; a form sends an empty field along."""

    q: str = Field("", max_length=MAX_TEXT)


class BuildsQuery(Search):
    """The filter of a project's builds."""

    branch: str = Field("", max_length=MAX_BRANCH)
    state: BuildState | Literal[""] = ""


@router.get("/")
async def show_projects(
    request: Request, visitor: WithVisitor, parts: WithParts, shown: Annotated[Search, Query()]
) -> HTMLResponse:
    """Show the visitor's projects with where each stands."""
    after_slug = "" if shown.after is None else str(parse_cursor(shown.after, str)[0])
    among = None if visitor.is_admin else visitor.roles.keys()
    wanted = ProjectFilter(among, shown.q.strip())
    async with parts.db.transaction() as tx:
        found = await projects.page(
            tx, after_slug=after_slug, limit=PROJECTS_A_PAGE + 1, shown=wanted
        )
        here, more = page_of(found, PROJECTS_A_PAGE, lambda project: cursor_of(project.slug))
        ids = [project.id for project in here]
        newest = await list_store.at_defaults(tx, ids)
        views = await read.build_views(tx, list(newest.values()))
        waiting = await list_store.waiting_branches(tx, ids)
    by_project = {view.build.project_id: view for view in views}
    listed = Found(here, by_project, waiting, more)
    page = projects_page(visitor, listed, wanted.text, parts.clock.now())
    return render(request, "projects.html", page)


@router.get("/api/v1/docs")
async def show_api(request: Request) -> HTMLResponse:
    """Show the API's description; nothing of it comes from another server."""
    app: FastAPI = request.app
    return render(request, "api.html", api_page(app.openapi(), app.openapi_url or ""))


@router.get("/projects")
async def lead_to_projects() -> RedirectResponse:
    """Take whoever shortened a project's address to the list of projects."""
    return RedirectResponse(Links().home)


@router.get("/projects/{slug}", dependencies=VIEWED)
async def show_project(
    request: Request,
    project: WithProject,
    visitor: WithVisitor,
    parts: WithParts,
    shown: Annotated[BuildsQuery, Query()],
) -> HTMLResponse:
    """Show a project's builds, the newest first."""
    before = None if shown.after is None else int(parse_cursor(shown.after, int)[0])
    wanted = BuildFilter(shown.branch.strip() or None, shown.state or None, shown.q.strip())
    async with parts.db.transaction() as tx:
        found = await builds.page(tx, project.id, wanted, before=before, limit=BUILDS_A_PAGE + 1)
        here, more = page_of(found, BUILDS_A_PAGE, lambda build: cursor_of(build.number))
        views = await read.build_views(tx, here)
        flakiest = await steadiness_store.flakiest(tx, project.id, FLAKIEST)
    listed = Listed(views, more, flakiest)
    page = project_page((project, visitor), wanted, listed, parts.clock.now())
    return render(request, "project.html", page)


@router.get("/projects/{slug}/branches", dependencies=VIEWED)
async def show_branches(
    request: Request,
    project: WithProject,
    visitor: WithVisitor,
    parts: WithParts,
    shown: Annotated[Search, Query()],
) -> HTMLResponse:
    """Show the newest build of each branch, that of the latest first."""
    before = None if shown.after is None else int(parse_cursor(shown.after, int)[0])
    text, limit = shown.q.strip(), BUILDS_A_PAGE + 1
    async with parts.db.transaction() as tx:
        found = await list_store.branches_page(
            tx, project.id, text=text, before=before, limit=limit
        )
        here, more = page_of(found, BUILDS_A_PAGE, lambda build: cursor_of(build.number))
        views = await read.build_views(tx, here)
    page = branches_page((project, visitor), text, views, more, parts.clock.now())
    return render(request, "branches.html", page)
