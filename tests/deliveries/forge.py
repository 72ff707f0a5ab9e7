"""A forge on loopback that keeps GitHub's and GitLab's promises, and a receiver of webhooks.

GitHub's statuses are only ever added to, and the newest of a context counts. GitLab's are jobs with
states: one that runs takes part in transitions, one that has ended is followed by a new one.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from storyshelf.clock import SystemClock
from tests.listening import listening

TOKEN = "forge-token"
OURS, ANOTHER = 7, 8  # who wrote a comment
SHOP = "shelf/shop"
NESTED = "shelf/web/shop"
UNENDED = {"pending", "running"}
ENQUEUE = {"created", "skipped", "canceled"}

Trouble = Callable[[Request], Response | None]
Answer = Callable[[Request, bytes], Response]


@dataclass
class Status:
    sha: str
    context: str
    state: str
    description: str
    link: str


@dataclass
class Comment:
    id: int
    body: str
    author: int = OURS


@dataclass
class FakeForge:
    """Everything in memory; `troubles` come first, one a request, `slow_s` before every answer.

    A late answer is one of something that was done: who gave up waiting does not know.
    """

    statuses: list[Status] = field(default_factory=list)
    comments: dict[int, list[Comment]] = field(default_factory=dict)
    events: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    troubles: deque[Trouble] = field(default_factory=deque)
    requests: list[str] = field(default_factory=list)
    token: str = TOKEN
    slow_s: float = 0.0
    late_s: float = 0.0
    serial: int = 100
    lock: threading.Lock = field(default_factory=threading.Lock)

    def app(self) -> Starlette:
        gitlab = "/api/v4/projects/{project:path}"
        notes = gitlab + "/merge_requests/{number:int}/notes"
        routes: list[tuple[str, Mapping[str, Answer]]] = [
            (gitlab + "/statuses/{sha}", {"POST": self._gitlab_status}),
            (notes + "/{comment:int}", {"PUT": self._edit, "DELETE": self._cut}),
            (notes, self._comment_list()),
            (gitlab, {"GET": self._gitlab_project}),
            ("/hook", {"POST": self._hook}),
        ]
        for github in ("/repos/{owner}/{name}", "/api/v3/repos/{owner}/{name}"):
            comment = github + "/issues/comments/{comment:int}"
            routes += [
                (github + "/statuses/{sha}", {"POST": self._github_status}),
                (github + "/issues/{number:int}/comments", self._comment_list()),
                (comment, {"PATCH": self._edit, "DELETE": self._cut}),
                (github, {"GET": self._github_repository}),
            ]
        return Starlette(
            routes=[
                Route(path, self._gated(answer), methods=[method])
                for path, answers in routes
                for method, answer in answers.items()
            ]
        )

    def effective(self, sha: str) -> dict[str, str]:
        """The state of each context of a commit that counts now."""
        return {each.context: each.state for each in self.statuses if each.sha == sha}

    def bodies(self, number: int) -> list[str]:
        return [each.body for each in self.comments.get(number, []) if each.author == OURS]

    def _gated(self, answer: Answer) -> Any:
        async def asked(request: Request) -> Response:
            body = await request.body()
            self.requests.append(f"{request.method} {request.url.path}")
            await SystemClock().sleep(self.slow_s)
            if self.troubles and (trouble := self.troubles.popleft()(request)) is not None:
                return trouble
            if not request.url.path.startswith("/hook") and not self._knows(request):
                return JSONResponse({"message": "Bad credentials"}, 401)
            with self.lock:
                done = answer(request, body)
            await SystemClock().sleep(self.late_s)
            return done

        return asked

    def _knows(self, request: Request) -> bool:
        given = request.headers.get("private-token") or request.headers.get("authorization", "")
        return given.removeprefix("Bearer ") == self.token

    def _github_repository(self, request: Request, body: bytes) -> Response:
        name = f"{request.path_params['owner']}/{request.path_params['name']}"
        if name != SHOP:
            return JSONResponse({"message": "Not Found"}, 404)
        return JSONResponse({"full_name": name, "permissions": {"push": True}})

    def _github_status(self, request: Request, body: bytes) -> Response:
        said, sha = json.loads(body), request.path_params["sha"]
        if len(said["description"]) > 140:
            return JSONResponse({"message": "description is too long (maximum is 140)"}, 422)
        if said["state"] not in {"pending", "success", "failure", "error"}:
            return JSONResponse({"message": "Validation Failed"}, 422)
        self._keep(sha, said["context"], said)
        return JSONResponse({"state": said["state"]}, 201)

    def _gitlab_project(self, request: Request, body: bytes) -> Response:
        if request.path_params["project"] != NESTED:
            return JSONResponse({"message": "404 Project Not Found"}, 404)
        access = {"project_access": None, "group_access": {"access_level": 30}}
        return JSONResponse({"path_with_namespace": NESTED, "permissions": access})

    def _gitlab_status(self, request: Request, body: bytes) -> Response:
        if request.path_params["project"] != NESTED:
            return JSONResponse({"message": "404 Project Not Found"}, 404)
        said, sha = json.loads(body), request.path_params["sha"]
        before = self.effective(sha).get(said["name"], "created")
        before = before if before in UNENDED else "created"
        allowed = {
            "pending": before in ENQUEUE,
            "running": before != "running",
            "success": True,
            "failed": True,
            "canceled": before in UNENDED,
        }
        if not allowed[said["state"]]:
            event = "enqueue" if said["state"] == "pending" else "run"
            words = f"Cannot transition status via :{event} from :{before} (Reason(s): ...)"
            return JSONResponse({"message": words}, 400)
        self._keep(sha, said["name"], said)
        return JSONResponse({"status": said["state"]}, 201)

    def _keep(self, sha: str, context: str, said: Mapping[str, Any]) -> None:
        link = said["target_url"]
        self.statuses.append(Status(sha, context, said["state"], said["description"], link))

    def _comment_list(self) -> Mapping[str, Answer]:
        return {"GET": self._listed, "POST": self._added}

    def _listed(self, request: Request, body: bytes) -> Response:
        size, page = (int(request.query_params[name]) for name in ("per_page", "page"))
        found = self.comments.get(request.path_params["number"], [])
        shown = found[size * (page - 1) : size * page]
        return JSONResponse(
            [
                {"id": c.id, "body": c.body, "user": {"id": c.author}, "author": {"id": c.author}}
                for c in shown
            ]
        )

    def _added(self, request: Request, body: bytes) -> Response:
        self.serial += 1
        comment = Comment(self.serial, json.loads(body)["body"])
        self.comments.setdefault(request.path_params["number"], []).append(comment)
        return JSONResponse({"id": comment.id}, 201)

    def _edit(self, request: Request, body: bytes) -> Response:
        for each in self._of_id(request):
            each.body = json.loads(body)["body"]
            return JSONResponse({"id": each.id})
        return JSONResponse({"message": "Not Found"}, 404)

    def _cut(self, request: Request, body: bytes) -> Response:
        for each in self._of_id(request):
            for comments in self.comments.values():
                if each in comments:
                    comments.remove(each)
            return Response(status_code=204)
        return JSONResponse({"message": "Not Found"}, 404)

    def _of_id(self, request: Request) -> list[Comment]:
        wanted = request.path_params["comment"]
        return [each for found in self.comments.values() for each in found if each.id == wanted]

    def _hook(self, request: Request, body: bytes) -> Response:
        self.events.append((dict(request.headers), body))
        return Response(status_code=204)


def answers(status: int, message: str = "", **headers: str) -> Trouble:
    """A request that is answered so, without anything being done."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _request: JSONResponse({"message": message}, status, named)


def running(forge: FakeForge, port: int = 0) -> AbstractContextManager[str]:
    """Serve on a loopback port and yield the address; at the end it dies as a forge does."""
    return listening(forge.app(), port, cuts_off=True)
