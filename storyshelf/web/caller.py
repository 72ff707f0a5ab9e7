"""Who is calling, and what they may do: the bearer of a token, or a person who is signed in.

The API takes tokens and no cookie, the pages take a session's cookie and no token; so a page of
another origin can have a browser send nothing that the API would take.
"""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.params import Depends as Dependency
from fastapi.routing import APIRoute

from storyshelf.auth import session_store as sessions
from storyshelf.auth import store as tokens
from storyshelf.auth import user_store as users
from storyshelf.auth.permissions import Action, ForbiddenError, Who
from storyshelf.auth.sign_in import hash_of
from storyshelf.auth.signed_in import NotSignedInError, SignedIn
from storyshelf.auth.tokens import Caller, parse_bearer
from storyshelf.builds import store as builds
from storyshelf.builds.build import Build
from storyshelf.db.engine import Tx
from storyshelf.ids import ProjectId
from storyshelf.projects import store as projects
from storyshelf.projects.project import NoSuchProjectError, Project
from storyshelf.web.cookies import cookie_values, own_name
from storyshelf.web.numbers import Number
from storyshelf.web.same_origin import FOR_TOKENS
from storyshelf.wiring import Parts

COOKIE = "storyshelf_session"
OTHER_PROJECT = "Check the slug, and that the token belongs to this project."
SOME_HELPERS = 3  # named to whom may not: enough to find one at work
NOT_A_MEMBER = "Check the slug; an admin of the project can make you a member."


def parts_of(request: Request) -> Parts:
    """Return what the server is made of."""
    parts = request.app.state.parts
    assert isinstance(parts, Parts), "set when the app starts"
    return parts


WithParts = Annotated[Parts, Depends(parts_of)]


async def caller_of(request: Request, parts: WithParts) -> Caller:
    """Return whom the request's token speaks for, asked once; raises UnknownTokenError."""
    known = getattr(request.state, "who", None)
    if isinstance(known, Caller):
        return known
    secret_hash = parse_bearer(request.headers.get("authorization"))
    async with parts.db.transaction() as tx:
        caller = request.state.who = await tokens.caller_of(tx, secret_hash)
    return caller


async def visitor_of(request: Request, parts: WithParts) -> SignedIn:
    """Return who is signed in, asked once; raises NotSignedInError."""
    known = getattr(request.state, "who", None)
    if isinstance(known, SignedIn):
        return known
    secrets = cookie_values(request, own_name(COOKIE, parts.public_url))
    if not secrets:
        raise NotSignedInError
    async with parts.db.transaction() as tx:
        who = request.state.who = await _one_of(tx, secrets)
    return who


async def _one_of(tx: Tx, secrets: Sequence[str]) -> SignedIn:
    """Return whom the one live session speaks for; of two, one was put there by somebody else."""
    found: list[SignedIn] = []
    for secret in secrets:
        with suppress(NotSignedInError):
            found.append(await sessions.signed_in(tx, hash_of(secret)))
    if len(found) != 1:
        raise NotSignedInError
    return found[0]


async def who_of(request: Request, parts: WithParts) -> Who:
    """Return who is calling: by token below `/api/`, by session everywhere else."""
    if request.url.path.startswith(FOR_TOKENS):
        return await caller_of(request, parts)
    return await visitor_of(request, parts)


class CallerFirst(APIRoute):
    """A route that knows who is calling before it reads the body: parsing is not for strangers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, behind the question who is calling."""
        handle = super().get_route_handler()

        async def handle_known(request: Request) -> Response:
            await who_of(request, parts_of(request))
            return await handle(request)

        return handle_known


WithCaller = Annotated[Caller, Depends(caller_of)]
WithVisitor = Annotated[SignedIn, Depends(visitor_of)]
WithWho = Annotated[Who, Depends(who_of)]


async def project_of(slug: str, who: WithWho, parts: WithParts) -> Project:
    """Return the project in the path; to whom may not see it, it does not exist."""
    next_step = OTHER_PROJECT if isinstance(who, Caller) else NOT_A_MEMBER
    async with parts.db.transaction() as tx:
        try:
            project = await projects.by_slug(tx, slug)
        except NoSuchProjectError:
            raise NoSuchProjectError(slug, next_step) from None
    if not any(who.may(action, project.id) for action in Action):
        raise NoSuchProjectError(slug, next_step)
    return project


WithProject = Annotated[Project, Depends(project_of)]


class Permit:
    """A route's question whether the caller may do this in the project of its path."""

    def __init__(self, action: Action) -> None:
        self.action = action

    async def __call__(self, who: WithWho, project: WithProject, parts: WithParts) -> None:
        """Go on if so; raises ForbiddenError."""
        await _require(parts, who, self.action, project.id)


class ServerPermit:
    """A route's question whether the caller may do this on the server as a whole."""

    def __init__(self, action: Action) -> None:
        self.action = action

    async def __call__(self, who: WithWho, parts: WithParts) -> None:
        """Go on if so; raises ForbiddenError."""
        await _require(parts, who, self.action, None)


async def _require(parts: Parts, who: Who, action: Action, project_id: ProjectId | None) -> None:
    """Go on if it is allowed; a person is told by whose leave it would be."""
    if who.may(action, project_id):
        return
    if isinstance(who, Caller):
        raise ForbiddenError(who, action)
    async with parts.db.transaction() as tx:
        can_help = await users.helpers(tx, project_id, SOME_HELPERS)
    raise ForbiddenError(who, action, can_help)


def needs(action: Action) -> Dependency:
    """Have a route ask for permission: `dependencies=[needs(Action.DECIDE)]`."""
    return Dependency(ServerPermit(action) if action is Action.OPERATE else Permit(action))


async def build_of(number: Number, project: WithProject, parts: WithParts) -> Build:
    """Return the build in the path; raises NoSuchBuildError."""
    async with parts.db.transaction() as tx:
        return await builds.by_number(tx, project, number)


WithBuild = Annotated[Build, Depends(build_of)]
