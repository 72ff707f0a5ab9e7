"""The server: the API and the pages in one app, with the background work that every server does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from storyshelf.api import builds, health, images, projects, shards, snapshots, uploads
from storyshelf.client.version import own_version
from storyshelf.ui import assets, pages
from storyshelf.ui.render import problem_page
from storyshelf.web.hosts import KnownHosts
from storyshelf.web.limits import MANIFEST_BYTES_A_FILE, MAX_JSON_BYTES, BodyLimit
from storyshelf.web.problems import Problem, add_handlers
from storyshelf.wiring import Parts

API = "/api/v1"
FOR_MACHINES = ("/api/", "/health/")  # errors below these are JSON, elsewhere a page


def create_app(parts: Parts) -> FastAPI:
    """Return the app; its background work runs while the app is served."""
    app = FastAPI(
        title="storyshelf",
        version=own_version(),
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # FastAPI's page loads its scripts from elsewhere; ours is in `ui.pages`
        redoc_url=None,
        lifespan=lambda _app: _background(parts),
    )
    app.state.parts = parts
    api = APIRouter(prefix=API)
    for module in (projects, uploads, builds, shards, snapshots, images):
        api.include_router(module.router)
    for router in (api, health.router, assets.router, pages.router):
        app.include_router(router)
    add_handlers(app, show_problem)
    app.add_middleware(BodyLimit, limit_of=_limits(parts))
    app.add_middleware(KnownHosts, names=_names(parts.public_url), show=show_problem)
    return app


def show_problem(request: Request, problem: Problem) -> Response:
    """Answer an error in the form that the path's readers take."""
    if request.url.path.startswith(FOR_MACHINES):
        return problem.answer()
    return problem_page(request, problem)


def _names(public_url: str) -> list[str]:
    named = urlsplit(public_url).hostname
    return [named] if named else []


def _limits(parts: Parts) -> Callable[[str, str], int]:
    manifest_bytes = MAX_JSON_BYTES + parts.limits.max_files * MANIFEST_BYTES_A_FILE

    def limit_of(method: str, path: str) -> int:
        if method == "PUT":
            return parts.limits.max_file_bytes
        return manifest_bytes if path.endswith("/builds") else MAX_JSON_BYTES

    return limit_of


@asynccontextmanager
async def _background(parts: Parts) -> AsyncIterator[None]:
    """Hear and send hints, and end what is overdue, for as long as the app is served."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work.run_forever()) for work in parts.background]
        yield
        for task in tasks:
            task.cancel()
