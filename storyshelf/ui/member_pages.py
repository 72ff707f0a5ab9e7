"""The routes of a project's members."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth import user_store as store
from storyshelf.auth import users
from storyshelf.auth.permissions import Action, Role
from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.user_store import Member, NoSuchUserError
from storyshelf.auth.users import BadEmailError
from storyshelf.ids import UserId
from storyshelf.projects.members import remove_member, set_member
from storyshelf.projects.project import Project
from storyshelf.ui.render import render
from storyshelf.ui.view_models.forms import done, error_words, wrong
from storyshelf.ui.view_models.members import Wish, how_to_add, members_page
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, WithVisitor, needs, parts_of
from storyshelf.web.links import Links, with_query
from storyshelf.web.numbers import BigId
from storyshelf.web.paging import After, cursor_of, page_of, parse_cursor
from storyshelf.wiring import Parts

MEMBERS_A_PAGE = 50
MAX_TYPED = 1_000

router = APIRouter(
    prefix="/projects/{slug}/settings/members",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)


class MembersQuery(After):
    """Where the list goes on, and what was done before."""

    done: Literal["", "set", "removed"] = ""


class MemberForm(BaseModel):
    """Who is to be what."""

    email: str = Field("", max_length=MAX_TYPED)
    role: str = Field("", max_length=MAX_TYPED)


class RoleForm(BaseModel):
    """What a member is to be."""

    role: Role


DONE = {"set": "It is so from their next click on", "removed": "They are no member any more"}


@router.get("")
async def show_members(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    asked: Annotated[MembersQuery, Query()],
) -> HTMLResponse:
    """Show a project's members by their address."""
    found = await _found(parts, project, asked.after)
    notice = done(DONE[asked.done]) if asked.done else None
    page = members_page((project, who), found, Wish(), notice, parts.clock.now())
    return render(request, "settings_members.html", page)


@router.post("")
async def add_member(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    form: Annotated[MemberForm, Form()],
) -> Response:
    """Make a user a member, or show the form again with what is wrong."""
    request.state.back = _members(project)
    problems = await _add(parts, project, form, who)
    if not problems:
        return _back(project, "set")
    found = await _found(parts, project, None)
    wish = Wish(form.email, form.role, problems)
    page = members_page((project, who), found, wish, wrong(problems), parts.clock.now())
    return render(request, "settings_members.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)


@router.post("/{user_id}")
async def change_member(
    request: Request,
    user_id: BigId,
    project: WithProject,
    who: WithVisitor,
    form: Annotated[RoleForm, Form()],
) -> Response:
    """Change what a member is."""
    request.state.back = _members(project)
    async with parts_of(request).db.transaction() as tx:
        user = await store.member_by_id(tx, project.id, UserId(user_id))
        await set_member(tx, project, user, form.role, who)
    return _back(project, "set")


@router.post("/{user_id}/remove")
async def end_member(
    request: Request, user_id: BigId, project: WithProject, who: WithVisitor, parts: WithParts
) -> Response:
    """Have somebody be no member any more; who removed themselves sees what is left to them."""
    request.state.back = _members(project)
    async with parts.db.transaction() as tx:
        user = await store.member_by_id(tx, project.id, UserId(user_id))
        await remove_member(tx, project, user, who)
    if user.id == who.user_id and not who.is_admin:
        return RedirectResponse(Links().home, HTTPStatus.SEE_OTHER)
    return _back(project, "removed")


async def _add(parts: Parts, project: Project, form: MemberForm, who: SignedIn) -> dict[str, str]:
    """Make the user a member; return by field what is wrong with the form."""
    if form.role not in set(Role):
        return {"role": "There is no such role."}
    try:
        email = users.parse_user(form.email).email
    except BadEmailError as error:
        return {"email": error_words(error)}
    async with parts.db.transaction() as tx:
        try:
            user = await store.user_by_email(tx, email)
        except NoSuchUserError:
            return {"email": how_to_add(email, who)}
        await set_member(tx, project, user, Role(form.role), who)
    return {}


def _members(project: Project) -> str:
    return f"{Links().settings(project.slug)}/members"


def _back(project: Project, what: str) -> Response:
    return RedirectResponse(with_query(_members(project), {"done": what}), HTTPStatus.SEE_OTHER)


async def _found(
    parts: Parts, project: Project, after: str | None
) -> tuple[Sequence[Member], str | None]:
    """Return a page of members and where the list goes on."""
    last = "" if after is None else str(parse_cursor(after, str)[0])
    async with parts.db.transaction() as tx:
        found = await store.members_of(tx, project.id, after_email=last, limit=MEMBERS_A_PAGE + 1)
    return page_of(found, MEMBERS_A_PAGE, lambda member: cursor_of(member.email))
