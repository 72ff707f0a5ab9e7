"""The routes of a project's tokens. A new one is in the answer to its form and nowhere else."""

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from storyshelf.auth import store as tokens
from storyshelf.auth.permissions import Action, Scope
from storyshelf.auth.signed_in import SignedIn
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import BadTokenNameError, KeptToken, parse_token_name
from storyshelf.ids import TokenId
from storyshelf.projects.make import end_token, make_token
from storyshelf.projects.project import Project
from storyshelf.ui.render import UNSEEN, render
from storyshelf.ui.view_models.forms import done, error_words, wrong
from storyshelf.ui.view_models.tokens import EXPIRIES, Said, ShownToken, Wish, tokens_page
from storyshelf.web.caller import CallerFirst, WithParts, WithProject, WithVisitor, needs
from storyshelf.web.links import with_query
from storyshelf.web.numbers import BigId
from storyshelf.web.paging import After, cursor_of, page_of, parse_cursor
from storyshelf.wiring import Parts

TOKENS_A_PAGE = 50
MAX_TYPED = 1_000

router = APIRouter(
    prefix="/projects/{slug}/settings/tokens",
    include_in_schema=False,
    default_response_class=HTMLResponse,
    route_class=CallerFirst,
    dependencies=[needs(Action.MANAGE)],
)


class TokensQuery(After):
    """Where the list goes on, and what was done before."""

    done: Literal["", "revoked", "gone"] = ""


class TokenForm(BaseModel):
    """What a new token is to be."""

    name: str = Field("", max_length=MAX_TYPED)
    scope: list[Scope] = Field([], max_length=len(Scope))
    days: str = Field("", max_length=MAX_TYPED)


DONE = {"revoked": "The token is revoked", "gone": "That token was revoked before"}


@router.get("")
async def show_tokens(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    asked: Annotated[TokensQuery, Query()],
) -> HTMLResponse:
    """Show a project's tokens, the newest first."""
    said = Said(notice=done(DONE[asked.done]) if asked.done else None)
    found = await _found(parts, project, asked.after)
    page = tokens_page((project, who), found, Wish(), said, parts.clock.now())
    return render(request, "settings_tokens.html", page)


@router.post("")
async def add_token(
    request: Request,
    project: WithProject,
    who: WithVisitor,
    parts: WithParts,
    form: Annotated[TokenForm, Form()],
) -> HTMLResponse:
    """Make a token and show it this once, or show the form again with what is wrong."""
    problems = _problems(form)
    if problems:
        wish = Wish(form.name, form.scope, form.days, problems)
        page = tokens_page(
            (project, who),
            await _found(parts, project, None),
            wish,
            Said(notice=wrong(problems)),
            parts.clock.now(),
        )
        return render(request, "settings_tokens.html", page, HTTPStatus.UNPROCESSABLE_ENTITY)
    return await _made(request, (project, who), parts, form)


@router.post("/{token_id}/revoke")
async def revoke_token(
    request: Request, token_id: BigId, project: WithProject, who: WithVisitor, parts: WithParts
) -> Response:
    """End a token for good."""
    async with parts.db.transaction() as tx:
        ended = await end_token(tx, project, TokenId(token_id), who.actor)
    own = request.url.path.removesuffix(f"/{token_id}/revoke")
    link = with_query(own, {"done": "revoked" if ended else "gone"})
    return RedirectResponse(link, HTTPStatus.SEE_OTHER)


async def _made(
    request: Request, named: tuple[Project, SignedIn], parts: Parts, form: TokenForm
) -> HTMLResponse:
    project, who = named
    lives = timedelta(days=int(form.days)) if form.days else None
    use = TokenUse(form.name, frozenset(form.scope), lives)
    async with parts.db.transaction() as tx:
        made = await make_token(tx, project, use, who.actor)
    shown = ShownToken(form.name, made.text, parts.public_url)
    found = await _found(parts, project, None)
    page = tokens_page(named, found, Wish(), Said(shown), parts.clock.now())
    answer = render(request, "settings_tokens.html", page, HTTPStatus.CREATED)
    answer.headers.update(UNSEEN)
    return answer


async def _found(
    parts: Parts, project: Project, after: str | None
) -> tuple[Sequence[KeptToken], str | None]:
    """Return a page of tokens and where the list goes on."""
    before = None if after is None else int(parse_cursor(after, int)[0])
    async with parts.db.transaction() as tx:
        found = await tokens.tokens_page(tx, project.id, before=before, limit=TOKENS_A_PAGE + 1)
    return page_of(found, TOKENS_A_PAGE, lambda token: cursor_of(token.id))


def _problems(form: TokenForm) -> dict[str, str]:
    problems: dict[str, str] = {}
    try:
        parse_token_name(form.name)
    except BadTokenNameError as error:
        problems["name"] = error_words(error)
    if not form.scope:
        problems["scopes"] = "A token that may do nothing is of no use. Tick what it is for."
    if form.days not in EXPIRIES:
        problems["days"] = "There is no such choice."
    return problems
