"""The routes that make a project; its first token is in the answer and nowhere else."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from storyshelf.auth.permissions import Action, Scope, Who
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import NewToken
from storyshelf.errors import BadInputError
from storyshelf.projects.make import NewProject, make_project, make_token
from storyshelf.projects.project import (
    Project,
    SlugTakenError,
    parse_branch,
    parse_name,
    parse_slug,
)
from storyshelf.ui.render import UNSEEN, render
from storyshelf.ui.view_models.forms import error_words
from storyshelf.ui.view_models.new_project import form_page, made_page
from storyshelf.web.caller import CallerFirst, WithParts, WithVisitor, needs
from storyshelf.wiring import Parts

FIRST_TOKEN = TokenUse("ci", frozenset({Scope.UPLOAD}))
MAX_TYPED = 1_000

router = APIRouter(
    prefix="/new-project",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.OPERATE)],
)


class ProjectForm(BaseModel):
    """What a project begins with."""

    slug: str = Field("", max_length=MAX_TYPED)
    name: str = Field("", max_length=MAX_TYPED)
    default_branch: str = Field("", max_length=MAX_TYPED)


@router.get("")
async def show_form(request: Request) -> HTMLResponse:
    """Show the form."""
    return render(request, "new_project.html", form_page(NewProject("")))


@router.post("")
async def add_project(
    request: Request, who: WithVisitor, parts: WithParts, form: Annotated[ProjectForm, Form()]
) -> HTMLResponse:
    """Make a project and show its token this once, or show the form again with what is wrong."""
    typed = NewProject(form.slug.strip(), form.name.strip(), form.default_branch.strip())
    problems = _problems(typed)
    if not problems:
        try:
            project, token = await _make(parts, typed, who)
        except SlugTakenError as error:
            problems = {"slug": error_words(error)}
        else:
            made = made_page(project, who, token, parts.public_url)
            answer = render(request, "project_made.html", made, HTTPStatus.CREATED)
            answer.headers.update(UNSEEN)
            return answer
    page = form_page(typed, problems)
    return render(request, "new_project.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)


async def _make(parts: Parts, typed: NewProject, who: Who) -> tuple[Project, NewToken]:
    async with parts.db.transaction() as tx:
        project = await make_project(tx, typed, who.actor)
        return project, await make_token(tx, project, FIRST_TOKEN, who.actor)


def _problems(typed: NewProject) -> dict[str, str]:
    problems: dict[str, str] = {}
    checks = (
        ("slug", parse_slug, typed.slug),
        ("name", parse_name, typed.name or "its slug"),
        ("default_branch", parse_branch, typed.default_branch),
    )
    for field, parse, text in checks:
        try:
            parse(text)
        except BadInputError as error:
            problems[field] = error_words(error)
    return problems
