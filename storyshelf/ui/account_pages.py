"""The routes of one's own account: where one is signed in, and one's password."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth import session_store as sessions
from storyshelf.auth import sign_in
from storyshelf.auth import user_store as users
from storyshelf.auth.passwords import BadPasswordError, TooBusyError
from storyshelf.auth.sign_in import WrongOwnPasswordError
from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.throttle import TooManyTriesError
from storyshelf.ids import SessionId
from storyshelf.ui.render import render
from storyshelf.ui.view_models.account import Done, Said, account_page
from storyshelf.web.caller import CallerFirst, WithParts, WithVisitor
from storyshelf.web.links import Links, with_query
from storyshelf.web.numbers import BigId
from storyshelf.web.session_cookie import forget
from storyshelf.wiring import Parts

router = APIRouter(
    prefix="/account",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
)
MOST_SHOWN = 100  # of one person's browsers


class AccountQuery(BaseModel):
    """What was done before the page was shown."""

    done: Done | Literal[""] = ""


class PasswordForm(BaseModel):
    """What is typed to change a password."""

    present: str = Field("", max_length=1_000)
    wanted: str = Field("", max_length=1_000)


@router.get("")
async def show_account(
    request: Request, who: WithVisitor, parts: WithParts, asked: Annotated[AccountQuery, Query()]
) -> HTMLResponse:
    """Show the visitor's own sessions and the form for a password."""
    return await _page(request, who, parts, Said(done=asked.done or None))


@router.post("/password")
async def change_password(
    request: Request, who: WithVisitor, parts: WithParts, form: Annotated[PasswordForm, Form()]
) -> Response:
    """Set or change the visitor's password; their other browsers are signed out."""
    try:
        await sign_in.change_password(parts.door, who, form.present, form.wanted)
    except (BadPasswordError, WrongOwnPasswordError, TooManyTriesError, TooBusyError) as error:
        return await _page(request, who, parts, Said(refused=error))
    return _back(Done.PASSWORD)


@router.post("/sessions/{session_id}/revoke")
async def end_session(session_id: BigId, who: WithVisitor, parts: WithParts) -> Response:
    """Sign one of the visitor's browsers out."""
    await sign_in.end_session(parts.db, who, SessionId(session_id))
    return _back(Done.SESSION)


@router.post("/sign-out-everywhere")
async def sign_out_everywhere(who: WithVisitor, parts: WithParts) -> Response:
    """Sign all of the visitor's browsers out, this one too."""
    await sign_in.sign_out_everywhere(parts.db, who)
    answer = RedirectResponse(Links().sign_in, HTTPStatus.SEE_OTHER)
    forget(answer, parts.public_url)
    return answer


async def _page(request: Request, who: SignedIn, parts: Parts, said: Said) -> HTMLResponse:
    async with parts.db.transaction() as tx:
        user = await users.user_by_id(tx, who.user_id)
        kept = await sessions.sessions_of(tx, who.user_id, MOST_SHOWN)
    page = account_page(user, kept, who.session_id, said, parts.clock.now())
    answer = render(request, "account.html", page, said.status)
    if isinstance(said.refused, TooManyTriesError | TooBusyError):
        answer.headers["Retry-After"] = str(said.refused.retry_after_s)
    return answer


def _back(done: Done) -> Response:
    return RedirectResponse(with_query(Links().account, {"done": done}), HTTPStatus.SEE_OTHER)
