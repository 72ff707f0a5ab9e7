"""The routes that delete a project. It is gone for everybody at once; the rest takes its time."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth.permissions import Action
from storyshelf.builds import list_store
from storyshelf.operations.delete_project import begin_deleting, finish_deleting
from storyshelf.projects.project import Project
from storyshelf.ui.render import render
from storyshelf.ui.view_models.delete_project import delete_project_page
from storyshelf.web.caller import (
    CallerFirst,
    WithParts,
    WithProject,
    WithVisitor,
    needs,
    parts_of,
)
from storyshelf.web.links import Links
from storyshelf.wiring import Parts

MAX_TYPED = 1_000

router = APIRouter(
    prefix="/projects/{slug}/settings/delete",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)


class ConfirmForm(BaseModel):
    """The slug of what is to be deleted, as a person typed it."""

    slug: str = Field("", max_length=MAX_TYPED)


@router.get("")
async def show_form(
    request: Request, project: WithProject, who: WithVisitor, parts: WithParts
) -> HTMLResponse:
    """Show what goes with the project, and the form."""
    page = delete_project_page(project, who, await _builds(parts, project))
    return render(request, "settings_delete.html", page)


@router.post("")
async def delete(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    form: Annotated[ConfirmForm, Form()],
    after: BackgroundTasks,
) -> Response:
    """Delete the project if its slug was typed; what is left then goes after the answer.

    A server that ends before that leaves the rest to the housekeeping of any other.
    """
    parts = parts_of(request)
    if form.slug.strip() != project.slug:
        page = delete_project_page(project, who, await _builds(parts, project), form.slug)
        return render(request, "settings_delete.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)
    await begin_deleting(parts.db, project, who.actor)
    after.add_task(finish_deleting, parts.db, parts.kinds, project.id)
    return RedirectResponse(Links().home, HTTPStatus.SEE_OTHER)


async def _builds(parts: Parts, project: Project) -> int:
    async with parts.db.transaction() as tx:
        return await list_store.number_of_builds(tx, project.id)
