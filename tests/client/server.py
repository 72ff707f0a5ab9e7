"""A small server that keeps the API's promises, so that the client is tested against HTTP."""

import hashlib
import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.listening import listening

TOKEN = "ssp_" + "a" * 43
SLUG = "demo"
PAGE = "http://shelf.test/projects/demo/builds"
BUILDS = f"/api/v1/projects/{SLUG}/builds"
COUNTED = (
    "planned",
    "unchanged",
    "changed",
    "added",
    "removed",
    "inherited",
    "errored",
    "unstable",
    "skipped",
    "accepted",
    "denied",
    "undecided",
)


@dataclass
class FakeBuild:
    number: int
    body: dict[str, Any]
    states: list[str]
    is_sealed: bool = False
    state_reason: str | None = None

    @property
    def hashes(self) -> list[str]:
        return list(dict.fromkeys(file["sha256"] for file in self.body["files"]))

    def next_state(self) -> str:
        if not self.is_sealed:
            return "uploading"
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


@dataclass
class FakeServer:
    """One project's builds in memory. `refusals` are answered first, one a request."""

    states: list[str] = field(default_factory=lambda: ["queued", "capturing", "passed"])
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    limits: dict[str, int] = field(
        default_factory=lambda: {
            "max_files": 25_000,
            "max_file_bytes": 100 * 2**20,
            "max_bundle_bytes": 2 * 2**30,
            "max_path_length": 1024,
        }
    )
    refusals: list[Response] = field(default_factory=list)
    page_size: int = 200
    builds: list[FakeBuild] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    puts: list[str] = field(default_factory=list)
    skips: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    loses_blobs_before_seal: int = 0
    refuse_seal: Response | None = None
    ends_after_puts: int | None = None

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/api/v1/limits", self._limits),
                Route("/api/v1/project", self._project),
                Route(BUILDS, self._open, methods=["POST"]),
                Route(BUILDS + "/skip", self._skip, methods=["POST"]),
                Route(BUILDS + "/{number:int}", self._build),
                Route(BUILDS + "/{number:int}/snapshots", self._snapshots),
                Route(BUILDS + "/{number:int}/seal", self._seal, methods=["POST"]),
                Route(BUILDS + "/{number:int}/decisions", self._decide, methods=["POST"]),
                Route(BUILDS + "/{number:int}/cancel", self._cancel, methods=["POST"]),
                Route(BUILDS + "/{number:int}/capture-again", self._again, methods=["POST"]),
                Route(BUILDS + "/{number:int}/blobs/{sha256}", self._put, methods=["PUT"]),
            ]
        )

    def build(self, number: int) -> FakeBuild:
        return self.builds[number - 1]

    def seen(self, build: FakeBuild) -> dict[str, Any]:
        counts = dict.fromkeys(COUNTED, 0)
        for snapshot in self.snapshots:
            counts[snapshot["verdict"]] += 1
            counts["undecided"] += snapshot["decision"] == "none"
        total = max(len(self.snapshots), 1)
        return {
            "number": build.number,
            "url": f"{PAGE}/{build.number}",
            "state": build.next_state(),
            "state_reason": build.state_reason,
            "branch": build.body["branch"],
            "commit": build.body["commit"],
            "generation": 1,
            "counts": counts,
            "progress": {"done": total, "total": total, "rate_per_s": None, "eta_s": None},
            "rule": None,
        }

    def _gate(self, request: Request) -> Response | None:
        self.requests.append(f"{request.method} {request.url.path}")
        if self.refusals:
            return self.refusals.pop(0)
        if request.url.path.endswith("/limits"):
            return None
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return problem(401, "token", "The project token is not known", "Make a new one.")
        return None

    async def _limits(self, request: Request) -> Response:
        return self._gate(request) or JSONResponse(self.limits)

    async def _project(self, request: Request) -> Response:
        project = {"slug": SLUG, "name": "Demo", "default_branch": "main", "url": PAGE}
        return self._gate(request) or JSONResponse(project)

    async def _open(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        body = json.loads(await request.body())
        key = body["idempotency_key"]
        known = [build for build in self.builds if build.body["idempotency_key"] == key]
        if not known:
            self.builds.append(FakeBuild(len(self.builds) + 1, body, list(self.states)))
        build = known[0] if known else self.builds[-1]
        answer = {"build": self.seen(build), "missing": self._missing(build)}
        return JSONResponse(answer, 200 if known else 201)

    async def _skip(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        body = json.loads(await request.body())
        self.skips.append(body)
        self.builds.append(FakeBuild(len(self.builds) + 1, body, ["skipped"], is_sealed=True))
        return JSONResponse({"build": self.seen(self.builds[-1])}, 201)

    async def _put(self, request: Request) -> Response:
        content = await request.body()
        refused = self._gate(request)
        if refused is not None:
            return refused
        sha256 = request.path_params["sha256"]
        if self.build(request.path_params["number"]).is_sealed:
            return problem(409, "not-uploading", "The build takes no files any more", "")
        if sha256 not in self.build(request.path_params["number"]).hashes:
            return problem(404, "not-found", "No such file in the manifest", "")
        if hashlib.sha256(content).hexdigest() != sha256:
            return problem(422, "wrong-hash", "The content is not what its hash says", "Again.")
        self.puts.append(sha256)
        self.blobs[sha256] = content
        if len(self.puts) == self.ends_after_puts:
            self.build(request.path_params["number"]).is_sealed = True
        return Response(status_code=201)

    async def _seal(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        if self.refuse_seal is not None:
            return self.refuse_seal
        build = self.build(request.path_params["number"])
        if self.loses_blobs_before_seal:
            self.loses_blobs_before_seal -= 1
            self.blobs.popitem()
        missing = self._missing(build)
        if missing:
            return problem(409, "missing-blobs", "Files are missing", "", missing=missing)
        build.is_sealed = True
        return JSONResponse({"build": self.seen(build)})

    async def _build(self, request: Request) -> Response:
        refused = self._gate(request)
        number = request.path_params["number"]
        if refused is not None or number > len(self.builds):
            return refused or problem(404, "not-found", f"There is no build {number}", "Look.")
        return JSONResponse({"build": self.seen(self.build(number))})

    async def _snapshots(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        wanted = [
            one for one in self.snapshots if one["verdict"] == request.query_params["verdict"]
        ]
        first = int(request.query_params.get("after", 0))
        page = wanted[first : first + self.page_size]
        end = first + len(page)
        return JSONResponse({"items": page, "next": str(end) if end < len(wanted) else None})

    async def _decide(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        body = json.loads(await request.body())
        seen = {one["id"]: one["seen"] for one in body.get("snapshots", [])}
        if body.get("all"):
            seen = {one["id"]: "none" for one in self.snapshots if one["decision"] == "none"}
        wanted = [one for one in self.snapshots if one["id"] in seen]
        if any(one["decision"] != seen[one["id"]] for one in wanted):
            return problem(409, "decision-moved", "Somebody else has decided it", "Look again.")
        for one in wanted:
            one["decision"] = body["decision"]
        build = self.seen(self.build(request.path_params["number"]))
        return JSONResponse({"build": build, "decided": len(wanted)})

    async def _cancel(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        build = self.build(request.path_params["number"])
        build.states = ["cancelled"]
        build.state_reason = json.loads(await request.body())["reason"] or "cancelled by a token"
        return JSONResponse({"build": self.seen(build)})

    async def _again(self, request: Request) -> Response:
        refused = self._gate(request)
        if refused is not None:
            return refused
        build = self.build(request.path_params["number"])
        build.states = ["queued"]
        return JSONResponse({"build": self.seen(build)})

    def _missing(self, build: FakeBuild) -> list[str]:
        return [sha256 for sha256 in build.hashes if sha256 not in self.blobs]


def problem(status: int, name: str, what: str, next_step: str, **more: Any) -> Response:
    body = {
        "type": f"about:blank#{name}",
        "title": name,
        "status": status,
        "what": what,
        "where": "here",
        "next_step": next_step,
        **more,
    }
    return JSONResponse(body, status, media_type="application/problem+json")


def a_snapshot(verdict: str, name: str = "Primary", **fields: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "url": f"{PAGE}/1/snapshots/{name.lower()}",
        "story_id": f"button--{name.lower()}",
        "title": "Button",
        "name": name,
        "mode": "default",
        "browser": "chromium",
        "verdict": verdict,
        "decision": "none",
        "error": None,
        **fields,
    }


def running(server: FakeServer) -> AbstractContextManager[str]:
    """Serve on a loopback port of the system's choice and yield the address."""
    return listening(server.app())
