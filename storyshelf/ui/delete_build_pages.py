"""The routes that delete a build, after a page that says what goes and what keeps it."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from storyshelf.auth.permissions import Action
from storyshelf.operations.delete_build import Deletion, delete_build, users_of
from storyshelf.ui.render import render
from storyshelf.ui.view_models.delete_build import delete_build_page
from storyshelf.web.caller import CallerFirst, WithBuild, WithParts, WithProject, WithWho, needs
from storyshelf.web.links import Links

router = APIRouter(
    prefix="/projects/{slug}/builds/{number}/delete",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)


@router.get("")
async def show_form(
    request: Request, project: WithProject, build: WithBuild, parts: WithParts
) -> HTMLResponse:
    """Show what goes with the build, or which builds keep it."""
    async with parts.db.transaction() as tx:
        users = await users_of(tx, build)
    return render(request, "delete_build.html", delete_build_page(project, build, users))


@router.post("")
async def delete(
    request: Request, project: WithProject, build: WithBuild, who: WithWho, parts: WithParts
) -> RedirectResponse:
    """Delete the build and go to its project."""
    request.state.back = Links().build(project.slug, build.number)
    why = Deletion(who.actor, f"deleted by {who.actor}")
    await delete_build(parts.db, parts.kinds, build, why)
    return RedirectResponse(Links().project(project.slug), HTTPStatus.SEE_OTHER)
