"""The routes by which a browser is signed in and out."""

from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Literal
from urllib.parse import SplitResult

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth import sign_in
from storyshelf.auth.passwords import TooBusyError
from storyshelf.auth.sign_in import WrongPasswordError
from storyshelf.auth.signed_in import NotSignedInError
from storyshelf.auth.throttle import TooManyTriesError
from storyshelf.ui.render import UNSEEN, render
from storyshelf.ui.view_models.sign_in import LinkPage, SignInPage
from storyshelf.web.caller import WithParts, visitor_of
from storyshelf.web.links import Links, with_query
from storyshelf.web.origin import split
from storyshelf.web.own_path import MAX_PATH, own_path
from storyshelf.web.problems import Problem
from storyshelf.web.session_cookie import browser_of, forget, give

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
UNSENT = {
    "problem": "Your session had ended: what you just sent was not done",
    "next_step": "Sign in. You come back to the page, where you can send it again.",
}
DOCUMENT = "document"  # what a browser says that it wants when a person opens a page


class Onwards(BaseModel):
    """Where to go after."""

    next: str = Field("", max_length=MAX_PATH)
    unsent: Literal["", "1"] = ""  # something was sent that was not done


class SignInForm(Onwards):
    """What is typed; an address longer than that exists nowhere."""

    email: str = Field("", max_length=320)
    password: str = Field("", max_length=1_000)


@router.get("/sign-in")
async def show_sign_in(
    request: Request, parts: WithParts, asked: Annotated[Onwards, Query()]
) -> Response:
    """Show the form; who is signed in already is led on."""
    try:
        await visitor_of(request, parts)
    except NotSignedInError:
        page = SignInPage(own_path(asked.next), **(UNSENT if asked.unsent else {}))
        return render(request, "sign_in.html", page)
    return _lead(own_path(asked.next))


@router.post("/sign-in")
async def sign_in_by_password(
    request: Request, parts: WithParts, form: Annotated[SignInForm, Form()]
) -> Response:
    """Sign the browser in, or show the form again with what is wrong."""
    browser = browser_of(request, parts.public_url)
    email = form.email.strip()
    try:
        cookie = await sign_in.by_password(parts.door, email, form.password, browser)
    except (WrongPasswordError, TooManyTriesError, TooBusyError) as error:
        page = SignInPage(own_path(form.next), email, error.what, error.next_step)
        answer: Response = render(request, "sign_in.html", page, error.http_status)
        if isinstance(error, TooManyTriesError | TooBusyError):
            answer.headers["Retry-After"] = str(error.retry_after_s)
        return answer
    answer = _lead(own_path(form.next))
    give(answer, cookie, parts.public_url, parts.door.life)
    return answer


@router.get("/sign-in/{secret}")
async def show_link(request: Request, secret: str, parts: WithParts) -> Response:
    """Show whom a link signs in; programs that follow links do not use it up."""
    found = await sign_in.whom(parts.door, secret)
    answer = render(request, "sign_in_link.html", LinkPage(found.name, found.email))
    answer.headers.update(UNSEEN)
    return answer


@router.post("/sign-in/{secret}")
async def sign_in_by_link(
    request: Request, secret: str, parts: WithParts, asked: Annotated[Onwards, Query()]
) -> Response:
    """Sign the browser in and use the link up; who has no password is led to where to set one."""
    browser = browser_of(request, parts.public_url)
    cookie, found = await sign_in.by_link(parts.door, secret, browser)
    answer = _lead(own_path(asked.next, Links().home if found.has_password else Links().account))
    give(answer, cookie, parts.public_url, parts.door.life)
    return answer


@router.post("/sign-out")
async def sign_out(request: Request, parts: WithParts) -> Response:
    """End the browser's session, whatever is left of it."""
    with suppress(NotSignedInError):
        await sign_in.sign_out(parts.db, await visitor_of(request, parts))
    answer = _lead(Links().sign_in)
    forget(answer, parts.public_url)
    return answer


def lead_to_sign_in(request: Request, problem: Problem) -> Response | None:
    """Return the way to the form for a person who opens a page; None for what else is asked.

    A picture, or a part that a script asks for, is answered with the problem itself.
    """
    if problem.kind != "not-signed-in":
        return None
    if request.headers.get("hx-request"):
        page = split(request.headers.get("hx-current-url", ""))
        onward = _form_for(page, unsent=request.method != "GET")
        headers = {"HX-Redirect": onward}
        return Response(status_code=HTTPStatus.UNAUTHORIZED, headers=headers)
    if request.headers.get("sec-fetch-dest", DOCUMENT) != DOCUMENT:
        return None
    if request.method != "GET":
        return _lead(_form_for(split(request.headers.get("referer", "")), unsent=True))
    return _lead(_form_for(split(str(request.url)), unsent=False))


def _form_for(page: SplitResult | None, *, unsent: bool) -> str:
    """Return the link to the form that leads back to the page afterwards."""
    wanted = Links().home
    if page is not None:
        wanted = own_path(f"{page.path}?{page.query}" if page.query else page.path)
    onward = None if wanted == Links().home else wanted
    return with_query(Links().sign_in, {"next": onward, "unsent": "1" if unsent else None})


def _lead(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER, UNSEEN)
