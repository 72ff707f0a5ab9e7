"""The routes of the server's users. A sign-in link is in the answer to its form alone."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth import user_store as store
from storyshelf.auth import users
from storyshelf.auth.permissions import Action
from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.user_store import User
from storyshelf.auth.users import BadEmailError, BadNameError, EmailTakenError
from storyshelf.errors import StoryshelfError
from storyshelf.ids import UserId
from storyshelf.ui.render import UNSEEN, render
from storyshelf.ui.view_models.forms import done, error_words, wrong
from storyshelf.ui.view_models.users import Said, ShownLink, Wish, users_page
from storyshelf.web.caller import CallerFirst, WithParts, WithVisitor, needs
from storyshelf.web.links import Links, with_query
from storyshelf.web.numbers import BigId
from storyshelf.web.paging import After, cursor_of, page_of, parse_cursor
from storyshelf.wiring import Parts

USERS_A_PAGE = 50
MAX_TYPED = 1_000
USERS = f"{Links().operations}/users"
HOURS = round(users.LINK_LIVES.total_seconds() / 3600)

router = APIRouter(
    prefix="/operations/users",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.OPERATE)],
)


class UsersQuery(After):
    """Where the list goes on, and what was done before."""

    done: Literal["", "disabled", "enabled", "admin", "no_admin"] = ""


class UserForm(BaseModel):
    """Who is to be added."""

    email: str = Field("", max_length=MAX_TYPED)
    name: str = Field("", max_length=MAX_TYPED)
    is_admin: Literal["", "yes"] = ""


class ChangeForm(BaseModel):
    """What is to be done with a user."""

    change: Literal["disable", "enable", "make_admin", "end_admin"]


DONE = {
    "disabled": "They are signed out and cannot sign in any more",
    "enabled": "They can sign in again",
    "admin": "They administer the server now",
    "no_admin": "They administer the server no more",
}
CHANGES = {
    "disable": (users.disable, "disabled"),
    "enable": (users.enable, "enabled"),
    "make_admin": (users.make_admin, "admin"),
    "end_admin": (users.end_admin, "no_admin"),
}


@router.get("")
async def show_users(
    request: Request, who: WithVisitor, parts: WithParts, asked: Annotated[UsersQuery, Query()]
) -> HTMLResponse:
    """Show the users by their address."""
    said = Said(notice=done(DONE[asked.done]) if asked.done else None)
    return await _page(request, (parts, who), Wish(), said, after=asked.after)


@router.post("")
async def add_user(
    request: Request, who: WithVisitor, parts: WithParts, form: Annotated[UserForm, Form()]
) -> HTMLResponse:
    """Make a user and show the link to sign in by, or show the form again with what is wrong."""
    try:
        wanted = users.parse_user(form.email, form.name or None, is_admin=bool(form.is_admin))
        async with parts.db.transaction() as tx:
            user = await users.add(tx, who.actor, wanted)
            secret = await users.link(tx, who.actor, user)
    except (BadEmailError, BadNameError, EmailTakenError) as error:
        problems = {"name" if isinstance(error, BadNameError) else "email": _words(error)}
        wish = Wish(form.email, form.name, form.is_admin, problems)
        return await _page(request, (parts, who), wish, Said(notice=wrong(problems)))
    return await _link(request, (parts, who), user, secret)


@router.post("/{user_id}/link")
async def make_link(
    request: Request, user_id: BigId, who: WithVisitor, parts: WithParts
) -> HTMLResponse:
    """End a user's password and sessions, and show a link by which they begin anew."""
    async with parts.db.transaction() as tx:
        user = await store.user_by_id(tx, UserId(user_id))
        secret = await users.reset(tx, who.actor, user)
    return await _link(request, (parts, who), user, secret)


@router.post("/{user_id}")
async def change_user(
    request: Request,
    user_id: BigId,
    who: WithVisitor,
    parts: WithParts,
    form: Annotated[ChangeForm, Form()],
) -> Response:
    """Shut a user out or let them in, make them an administrator or no longer one."""
    request.state.back = USERS
    change, said = CHANGES[form.change]
    async with parts.db.transaction() as tx:
        user = await store.user_by_id(tx, UserId(user_id))
        await change(tx, who.actor, user)
    return RedirectResponse(with_query(USERS, {"done": said}), HTTPStatus.SEE_OTHER)


async def _link(
    request: Request, here: tuple[Parts, SignedIn], user: User, secret: str
) -> HTMLResponse:
    link = Links(here[0].public_url).sign_in_link(secret)
    answer = await _page(request, here, Wish(), Said(ShownLink(user.email, link, HOURS)))
    answer.headers.update(UNSEEN)
    return answer


async def _page(
    request: Request,
    here: tuple[Parts, SignedIn],
    wish: Wish,
    said: Said,
    after: str | None = None,
) -> HTMLResponse:
    parts, who = here
    last = "" if after is None else str(parse_cursor(after, str)[0])
    async with parts.db.transaction() as tx:
        found = await store.users_page(tx, after_email=last, limit=USERS_A_PAGE + 1)
    listed = page_of(found, USERS_A_PAGE, lambda user: cursor_of(user.email))
    page = users_page(who, listed, wish, said, parts.clock.now())
    status = HTTPStatus.UNPROCESSABLE_ENTITY if wish.problems else HTTPStatus.OK
    return render(request, "users.html", page, status)


def _words(error: StoryshelfError) -> str:
    if isinstance(error, EmailTakenError):
        return "There is a user of that address already. A new link is made beside their name."
    return error_words(error)
