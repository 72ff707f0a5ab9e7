"""What is asked of a content host, from its address to the file."""

import asyncio
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from storyshelf.builds import store as builds
from storyshelf.bundle.manifest import BundledFile
from storyshelf.db.engine import Tx
from storyshelf.projects import store as projects
from storyshelf.projects.project import NoSuchProjectError, Project
from storyshelf.publishing import store
from storyshelf.publishing.access import COOKIE, LIVES, Doorkeeper
from storyshelf.publishing.address import (
    INDEX,
    Address,
    Entrance,
    Front,
    InBranch,
    InBuild,
    TraceFile,
    ViewerFile,
    parse_address,
)
from storyshelf.publishing.answers import FOR_ALL, FOR_MEMBERS, file_answer, trace_answer
from storyshelf.publishing.errors import (
    EmptyBranchError,
    ForMembersError,
    HandOverRefusedError,
    NoSuchFileError,
    NothingPublishedError,
    OnlyReadError,
    UnsealedBuildError,
)
from storyshelf.publishing.pages import problem_page
from storyshelf.publishing.trace_viewer import viewer_answer
from storyshelf.traces import store as traces
from storyshelf.traces.trace import NoSuchTraceError
from storyshelf.web.cookies import cookie_values, give_cookie, own_name
from storyshelf.web.hand_over import parse_hand_over
from storyshelf.web.links import Links
from storyshelf.web.problems import Problem
from storyshelf.wiring import Parts

READ = frozenset({"GET", "HEAD"})
UNKEPT = {"Cache-Control": "no-store"}


class Published:
    """Answers for all projects' hosts; the scope's `slug` says for whose."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._door = Doorkeeper(parts.secrets, parts.clock)
        self._cookie = own_name(COOKIE, parts.public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI); raises StoryshelfError."""
        request = Request(scope)
        answer = await self._answer(request)
        await answer(scope, receive, send)

    def show(self, request: Request, problem: Problem) -> Response:
        """Return a problem as a page that leads on to the same thing in the app."""
        links, slug = Links(self._parts.public_url), request.scope["slug"]
        story = request.query_params.get("path", "")
        match _address(request):
            case InBuild(number=number):
                link = links.storybook(slug, number, story)
            case InBranch(branch=branch):
                link = links.branch_storybook(slug, branch, story)
            case _:
                link = links.project(slug)
        return problem_page(problem, link)

    async def _answer(self, request: Request) -> Response:
        if request.method not in READ:
            raise OnlyReadError
        address = _address(request)
        if address is None:
            raise NothingPublishedError
        if isinstance(address, Entrance):
            return await self._let_in(request)
        if isinstance(address, TraceFile | ViewerFile):
            return await self._show_trace(request, address)
        async with self._parts.db.transaction() as tx:
            project = await self._project(tx, request)
            if not await self._door.lets_in(tx, project, cookie_values(request, self._cookie)):
                raise ForMembersError
            found = await _find(tx, project, address)
        if isinstance(found, InBuild):
            return _lead_on(request, found)
        caching = FOR_ALL if project.options.public_storybook else FOR_MEMBERS
        return await file_answer(self._parts.blobs, found, request, caching)

    async def _show_trace(self, request: Request, address: TraceFile | ViewerFile) -> Response:
        """Answer with a trace or what shows it: to members alone, in a public project too."""
        async with self._parts.db.transaction() as tx:
            project = await self._project(tx, request)
            if not await self._door.knows(tx, project, cookie_values(request, self._cookie)):
                raise ForMembersError
            found = None
            if isinstance(address, TraceFile):
                found = await traces.recorded_in(tx, project.id, address.snapshot_id)
                if found is None:
                    raise NoSuchTraceError(address.snapshot_id)
        if found is not None:
            return await trace_answer(self._parts.blobs, found, request)
        assert isinstance(address, ViewerFile), "the other one was found"
        answer = await asyncio.to_thread(viewer_answer, address.path, request)
        if answer is None:
            raise NothingPublishedError
        return answer

    async def _let_in(self, request: Request) -> Response:
        """Turn a hand-over into a pass, and lead on to where it was for."""
        parts = self._parts
        note = request.query_params.get("note", "")
        handed = parse_hand_over(parts.secrets, note, parts.clock.now())
        if handed is None:
            raise HandOverRefusedError
        async with parts.db.transaction() as tx:
            project = await self._project(tx, request)
        if handed.project_id != project.id:
            raise HandOverRefusedError
        answer = RedirectResponse(handed.target, HTTPStatus.SEE_OTHER, UNKEPT)
        leave = self._door.new_pass(handed.project_id, handed.session_id)
        give_cookie(answer, COOKIE, leave, int(LIVES.total_seconds()), parts.public_url)
        return answer

    async def _project(self, tx: Tx, request: Request) -> Project:
        """Return whose host it is; a stranger cannot tell what exists from what does not."""
        try:
            return await projects.by_slug(tx, request.scope["slug"])
        except NoSuchProjectError:
            raise ForMembersError from None


def _address(request: Request) -> Address | None:
    return parse_address(request.scope["raw_path"].decode("latin-1"))


async def _find(
    tx: Tx, project: Project, address: Front | InBranch | InBuild
) -> BundledFile | InBuild:
    """Return the file that is meant, or the address where it is."""
    match address:
        case Front():
            return await _newest(tx, project, InBranch(project.default_branch, ""))
        case InBranch():
            return await _newest(tx, project, address)
        case InBuild():
            return await _file(tx, project, address)


async def _newest(tx: Tx, project: Project, wanted: InBranch) -> InBuild:
    number = await store.newest_sealed(tx, project.id, wanted.branch)
    if number is None:
        raise EmptyBranchError(wanted.branch)
    return InBuild(number, wanted.path)


async def _file(tx: Tx, project: Project, wanted: InBuild) -> BundledFile | InBuild:
    build = await builds.by_number(tx, project, wanted.number)
    if build.sealed_at is None:
        raise UnsealedBuildError(build.number)
    if wanted.is_bare:
        return InBuild(build.number, "")
    folder = wanted.path if not wanted.path or wanted.path.endswith("/") else f"{wanted.path}/"
    files = await store.files_at(tx, build.id, wanted.path, f"{folder}{INDEX}")
    if wanted.path in files:
        return files[wanted.path]
    if not files:
        raise NoSuchFileError(build.number, wanted.path)
    return files[f"{folder}{INDEX}"] if folder == wanted.path else InBuild(build.number, folder)


def _lead_on(request: Request, address: InBuild) -> Response:
    query = request.url.query
    location = f"{address.location}?{query}" if query else address.location
    return RedirectResponse(location, HTTPStatus.FOUND, UNKEPT)
