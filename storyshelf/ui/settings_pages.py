"""The routes of a project's general settings. Wrong input comes back as it was typed."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth.permissions import Action
from storyshelf.bundle.isolation import Isolation
from storyshelf.errors import BadInputError
from storyshelf.projects.change import ProjectChange, change_project
from storyshelf.projects.options import BadOptionError, StoredValue, read_option
from storyshelf.projects.project import parse_branch, parse_name
from storyshelf.ui.render import render
from storyshelf.ui.view_models.forms import done, error_words, wrong
from storyshelf.ui.view_models.settings import FLAGS, Typed, option_names, settings_page
from storyshelf.ui.words import sentence
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, WithVisitor, needs
from storyshelf.web.links import with_query

MAX_TYPED = 20_000  # of one field: more than any that is right, which the form then says

router = APIRouter(
    prefix="/projects/{slug}/settings",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)


class SettingsQuery(BaseModel):
    """What was done before the page was shown."""

    done: Literal["", "saved", "same"] = ""


class SettingsForm(BaseModel):
    """Every field of the form, as it was typed; a box that is not ticked is not sent."""

    name: str = Field("", max_length=MAX_TYPED)
    default_branch: str = Field("", max_length=MAX_TYPED)
    viewports: str = Field("", max_length=MAX_TYPED)
    diff_threshold: str = Field("", max_length=MAX_TYPED)
    padding: str = Field("", max_length=MAX_TYPED)
    accepts_branches: str = Field("", max_length=MAX_TYPED)
    cancels_older_builds: Literal["", "yes"] = ""
    public_storybook: Literal["", "yes"] = ""
    keep_builds: str = Field("", max_length=MAX_TYPED)
    keep_days: str = Field("", max_length=MAX_TYPED)
    max_running: str = Field("", max_length=MAX_TYPED)
    allowed_hosts: str = Field("", max_length=MAX_TYPED)
    captures_docs: Literal["", "yes"] = ""
    story_tags: str = Field("", max_length=MAX_TYPED)
    accessibility: str = Field("", max_length=MAX_TYPED)
    isolation: str = Field(Isolation.SHARED.value, max_length=MAX_TYPED)


DONE = {"saved": "The settings are saved", "same": "Nothing was different, so nothing was changed"}


@router.get("")
async def show_settings(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    asked: Annotated[SettingsQuery, Query()],
) -> HTMLResponse:
    """Show the general settings."""
    notice = done(DONE[asked.done]) if asked.done else None
    return render(request, "settings.html", settings_page(project, who, None, notice))


@router.post("")
async def change_settings(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    form: Annotated[SettingsForm, Form()],
) -> Response:
    """Save what differs, or show the form again with what is wrong."""
    typed = form.model_dump()
    wanted, problems = _read(typed)
    if problems:
        page = settings_page(project, who, Typed(typed, problems), wrong(problems))
        return render(request, "settings.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)
    async with parts.db.transaction() as tx:
        changed = await change_project(tx, project, wanted, who.actor)
    own = with_query(request.url.path, {"done": "saved" if changed else "same"})
    return RedirectResponse(own, HTTPStatus.SEE_OTHER)


def _read(typed: dict[str, str]) -> tuple[ProjectChange, dict[str, str]]:
    """Return what is wanted, and by field what is wrong; it holds only where nothing is."""
    problems: dict[str, str] = {}
    for name, parse in (("name", parse_name), ("default_branch", parse_branch)):
        try:
            parse(typed[name])
        except BadInputError as error:
            problems[name] = error_words(error)
    options: dict[str, StoredValue] = {}
    for name in option_names():
        try:
            options[name] = read_option(name, _option_text(name, typed[name]))
        except BadOptionError as error:
            problems[name] = sentence(error.problem)
    change = ProjectChange(typed["name"].strip(), typed["default_branch"].strip(), options)
    return change, problems


def _option_text(name: str, typed: str) -> str:
    if name in FLAGS:
        return "yes" if typed else "no"
    return typed
