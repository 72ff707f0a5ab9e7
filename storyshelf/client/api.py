"""The server's HTTP API as the client uses it; every request may be sent twice without harm."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

import httpx
from pydantic import ValidationError

from storyshelf.bundle.manifest import BundledFile, Manifest, ManifestLimits
from storyshelf.client.answers import (
    Answer,
    Build,
    BuildAnswer,
    DecidedBuild,
    Limits,
    OpenedBuild,
    Problem,
    Project,
    Snapshot,
    SnapshotPage,
)
from storyshelf.client.commit import Commit
from storyshelf.client.errors import (
    ApiProblemError,
    BadAnswerError,
    FileChangedError,
    ServerUnreachableError,
)
from storyshelf.client.retrying import PASSING_STATUSES, Backoff
from storyshelf.client.saved import Server
from storyshelf.client.version import own_version
from storyshelf.clock import Clock

TIMEOUT = httpx.Timeout(60.0, connect=10.0, pool=None)  # a seal of 25,000 files takes seconds
CONNECTIONS = 16
PIECE_BYTES = 256 * 1024
PAGE_SIZE = 200
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_A = TypeVar("_A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a commit is from: its pull request, and the facts of the CI run."""

    pull_request: int | None = None
    ci: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What opens a build; the same key with the same content finds the same build again."""

    idempotency_key: str
    commit: Commit
    manifest: Manifest
    cancel_older: bool | None = None
    origin: Origin = field(default_factory=Origin)

    def body(self) -> dict[str, object]:
        """Return it as the API wants it."""
        return {
            "idempotency_key": self.idempotency_key,
            "commit": self.commit.commit,
            "branch": self.commit.branch,
            "message": self.commit.message,
            "author": self.commit.author,
            "files": [
                {"path": file.path, "sha256": file.sha256, "size": file.size_bytes}
                for file in self.manifest.files
            ],
            "cancel_older": self.cancel_older,
            "pull_request": self.origin.pull_request,
            "ci": dict(self.origin.ci),
        }


@dataclass(frozen=True, slots=True)
class _Request:
    """One request; `source` is a file that is sent as its body."""

    method: str
    path: str
    json: Mapping[str, object] | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: Path | None = None
    size_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Api:
    """A session with one server as one project."""

    http: httpx.AsyncClient
    clock: Clock
    backoff: Backoff

    async def project(self) -> Project:
        """Return the project of the token; the first call that a wrong token fails."""
        return _read(Project, await self._send(_Request("GET", "/api/v1/project")))

    async def limits(self) -> ManifestLimits:
        """Return what a bundle may hold on this server."""
        limits = _read(Limits, await self._send(_Request("GET", "/api/v1/limits")))
        return ManifestLimits(
            max_files=limits.max_files,
            max_file_bytes=limits.max_file_bytes,
            max_bundle_bytes=limits.max_bundle_bytes,
            max_path_bytes=limits.max_path_length,
        )

    async def open_build(self, slug: str, request: BuildRequest) -> OpenedBuild:
        """Open a build or find it again, and learn which contents it lacks."""
        path = f"/api/v1/projects/{slug}/builds"
        answer = await self._send(_Request("POST", path, json=request.body()))
        return _read(OpenedBuild, answer)

    async def skip_build(self, slug: str, commit: Commit, reason: str, origin: Origin) -> Build:
        """Have a build of the commit that captures nothing, so that no check waits for one."""
        body = {
            "commit": commit.commit,
            "branch": commit.branch,
            "message": commit.message,
            "author": commit.author,
            "reason": reason,
            "pull_request": origin.pull_request,
            "ci": dict(origin.ci),
        }
        path = f"/api/v1/projects/{slug}/builds/skip"
        return _read(BuildAnswer, await self._send(_Request("POST", path, json=body))).build

    async def put_blob(self, slug: str, number: int, file: BundledFile, source: Path) -> None:
        """Send one file's content; a file that is not what was hashed is told apart."""
        path = f"/api/v1/projects/{slug}/builds/{number}/blobs/{file.sha256}"
        await self._send(_Request("PUT", path, source=source, size_bytes=file.size_bytes))

    async def seal(self, slug: str, number: int) -> Build:
        """Close the upload; the server starts to work."""
        path = f"/api/v1/projects/{slug}/builds/{number}/seal"
        return _read(BuildAnswer, await self._send(_Request("POST", path))).build

    async def build(self, slug: str, number: int) -> Build:
        """Return the build as it is now."""
        path = f"/api/v1/projects/{slug}/builds/{number}"
        return _read(BuildAnswer, await self._send(_Request("GET", path))).build

    async def snapshots(self, slug: str, number: int, verdict: str) -> tuple[Snapshot, ...]:
        """Return all snapshots of one verdict, page by page."""
        path = f"/api/v1/projects/{slug}/builds/{number}/snapshots"
        query = {"verdict": verdict, "limit": str(PAGE_SIZE)}
        found: list[Snapshot] = []
        while True:
            page = _read(SnapshotPage, await self._send(_Request("GET", path, query=query)))
            found += page.items
            if page.next is None or not page.items:
                return tuple(found)
            query = {**query, "after": page.next}

    async def decide(
        self, slug: str, number: int, decision: str, named: Sequence[Snapshot] | None
    ) -> DecidedBuild:
        """Decide these snapshots, all or none, or (None) whatever is undecided.

        A snapshot that somebody else has decided since it was read is refused by the server.
        """
        path = f"/api/v1/projects/{slug}/builds/{number}/decisions"
        if named is None:
            body: dict[str, object] = {"decision": decision, "all": True}
        else:
            seen = [{"id": one.id, "seen": one.decision} for one in named]
            body = {"decision": decision, "snapshots": seen}
        return _read(DecidedBuild, await self._send(_Request("POST", path, json=body)))

    async def cancel(self, slug: str, number: int, reason: str | None) -> Build:
        """End a build that has not ended."""
        path = f"/api/v1/projects/{slug}/builds/{number}/cancel"
        answer = await self._send(_Request("POST", path, json={"reason": reason}))
        return _read(BuildAnswer, answer).build

    async def capture_again(self, slug: str, number: int) -> Build:
        """Have an ended build captured anew."""
        path = f"/api/v1/projects/{slug}/builds/{number}/capture-again"
        return _read(BuildAnswer, await self._send(_Request("POST", path))).build

    async def _send(self, request: _Request) -> httpx.Response:
        """Send until there is an answer that stays, or raise what to say about it."""
        failures = 0
        while True:
            answer, reason = await self._try(request)
            if answer is not None and answer.status_code not in PASSING_STATUSES:
                return _accepted(request, answer)
            failures += 1
            asked = answer.headers.get("Retry-After") if answer is not None else None
            wait_s = self.backoff.after(failures, asked)
            if wait_s is None and answer is not None:
                return _accepted(request, answer)
            if wait_s is None:
                raise ServerUnreachableError(str(self.http.base_url), reason, failures)
            await self.clock.sleep(wait_s)

    async def _try(self, request: _Request) -> tuple[httpx.Response | None, str]:
        try:
            if request.source is None:
                return await self._exchange(request, content=None), ""
            with _opened(request.source) as opened:
                return await self._exchange(request, content=_pieces(opened, request)), ""
        except httpx.RequestError as error:
            return None, str(error) or type(error).__name__

    async def _exchange(
        self, request: _Request, *, content: AsyncIterator[bytes] | None
    ) -> httpx.Response:
        body_headers = {} if content is None else {"Content-Length": str(request.size_bytes)}
        return await self.http.request(
            request.method,
            request.path,
            params=request.query,
            json=request.json,
            content=content,
            headers=body_headers,
        )


@asynccontextmanager
async def connect(
    server: Server,
    clock: Clock,
    backoff: Backoff,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[Api]:
    """Open a session; proxies of the environment are used, except for this machine itself."""
    async with httpx.AsyncClient(
        base_url=server.url,
        headers={
            "Authorization": f"Bearer {server.token}",
            "User-Agent": f"storyshelf/{own_version()}",
            "Accept": "application/json",
        },
        timeout=TIMEOUT,
        limits=httpx.Limits(max_connections=CONNECTIONS),
        transport=transport,
        trust_env=httpx.URL(server.url).host not in LOOPBACK,
    ) as http:
        yield Api(http, clock, backoff)


def _opened(source: Path) -> IO[bytes]:
    try:
        return source.open("rb")
    except OSError as error:
        raise FileChangedError(source) from error


async def _pieces(opened: IO[bytes], request: _Request) -> AsyncIterator[bytes]:
    """Read exactly the announced bytes; fewer or more means that the file changed."""
    left = request.size_bytes
    while piece := await asyncio.to_thread(opened.read, PIECE_BYTES):
        left -= len(piece)
        if left < 0:
            break
        yield piece
    if left != 0:
        raise FileChangedError(Path(opened.name))


def _accepted(request: _Request, answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    if answer.is_redirect:
        raise BadAnswerError(str(request), f"it redirects to {answer.headers.get('Location')}")
    is_problem = answer.headers.get("Content-Type", "").startswith("application/problem+json")
    raise ApiProblemError(
        answer.status_code,
        _read(Problem, answer) if is_problem else Problem(),
        request=str(request),
        request_id=_request_id(answer),
    )


def _request_id(answer: httpx.Response) -> str:
    """Return what the server's log names the request by; something else may have answered."""
    given = answer.headers.get("X-Request-Id", "")
    return given if given.isascii() and given.isprintable() else ""


def _read(kind: type[_A], answer: httpx.Response) -> _A:
    request = f"{answer.request.method} {answer.request.url.path}"
    try:
        return kind.model_validate_json(answer.content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise BadAnswerError(request, f"{place} {first['msg']}".strip()) from error
