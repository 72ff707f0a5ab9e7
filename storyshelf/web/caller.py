"""Who is calling: the bearer of a project token."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from storyshelf.auth import store as tokens
from storyshelf.auth.tokens import Caller, parse_bearer
from storyshelf.builds import store as builds
from storyshelf.builds.build import Build
from storyshelf.projects import store as projects
from storyshelf.projects.project import NoSuchProjectError, Project
from storyshelf.web.numbers import Number
from storyshelf.wiring import Parts


def parts_of(request: Request) -> Parts:
    """Return what the server is made of."""
    parts = request.app.state.parts
    assert isinstance(parts, Parts), "set when the app starts"
    return parts


WithParts = Annotated[Parts, Depends(parts_of)]


async def caller_of(request: Request, parts: WithParts) -> Caller:
    """Return whom the request's token speaks for, asked once; raises UnknownTokenError."""
    known = getattr(request.state, "caller", None)
    if isinstance(known, Caller):
        return known
    secret_hash = parse_bearer(request.headers.get("authorization"))
    async with parts.db.transaction() as tx:
        caller = request.state.caller = await tokens.caller_of(tx, secret_hash)
    return caller


class CallerFirst(APIRoute):
    """A route that knows who is calling before it reads the body: parsing is not for strangers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, behind the question who is calling."""
        handle = super().get_route_handler()

        async def handle_known(request: Request) -> Response:
            await caller_of(request, parts_of(request))
            return await handle(request)

        return handle_known


WithCaller = Annotated[Caller, Depends(caller_of)]
OTHER_PROJECT = "Check the slug, and that the token belongs to this project."


async def project_of(slug: str, caller: WithCaller, parts: WithParts) -> Project:
    """Return the project in the path; to a token of another one it does not exist."""
    if caller.project_slug != slug:
        raise NoSuchProjectError(slug, OTHER_PROJECT)
    async with parts.db.transaction() as tx:
        return await projects.by_slug(tx, slug)


WithProject = Annotated[Project, Depends(project_of)]


async def build_of(number: Number, project: WithProject, parts: WithParts) -> Build:
    """Return the build in the path; raises NoSuchBuildError."""
    async with parts.db.transaction() as tx:
        return await builds.by_number(tx, project, number)


WithBuild = Annotated[Build, Depends(build_of)]
