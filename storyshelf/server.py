"""The server: API and pages in one app, published Storybooks beside it on hosts of their own.

With it runs the background work that every server does.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from storyshelf.api import (
    builds,
    health,
    images,
    metrics,
    projects,
    shards,
    snapshots,
    steadiness,
    uploads,
)
from storyshelf.api.description import complete
from storyshelf.client.version import own_version
from storyshelf.publishing.site import create_site
from storyshelf.ui import (
    account_pages,
    assets,
    audit_pages,
    build_pages,
    connection_pages,
    decision_routes,
    delete_build_pages,
    delete_project_pages,
    member_pages,
    new_project_pages,
    operations_pages,
    project_pages,
    run_routes,
    settings_pages,
    sign_in_pages,
    snapshot_pages,
    storybook_links,
    token_pages,
    trace_routes,
    user_pages,
)
from storyshelf.ui.render import problem_page
from storyshelf.web.hosts import ContentHosts, KnownHosts
from storyshelf.web.limits import (
    MANIFEST_BYTES_A_FILE,
    MAX_FORM_BYTES,
    MAX_JSON_BYTES,
    MAX_STRANGERS_BYTES,
    BodyLimit,
)
from storyshelf.web.links import Links
from storyshelf.web.navigation import NotEmbedded
from storyshelf.web.problems import Problem, add_handlers
from storyshelf.web.request_id import RequestIds
from storyshelf.web.same_origin import SameOrigin
from storyshelf.web.thumbnails import Thumbnails
from storyshelf.wiring import Parts

API = "/api/v1"
PAGES = (
    account_pages,
    assets,
    audit_pages,
    build_pages,
    connection_pages,
    decision_routes,
    delete_build_pages,
    delete_project_pages,
    member_pages,
    new_project_pages,
    operations_pages,
    project_pages,
    run_routes,
    settings_pages,
    sign_in_pages,
    snapshot_pages,
    storybook_links,
    token_pages,
    trace_routes,
    user_pages,
)
FOR_MACHINES = ("/api/", "/health/")  # errors below these are JSON, elsewhere a page
IN_JSON = (*FOR_MACHINES, "/metrics")


class App(FastAPI):
    """The app, whose API is described with its refusals and tokens."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        return complete(super().openapi())

    def build_middleware_stack(self) -> ASGIApp:
        """Name requests outside of all else: a middleware would be inside of the last handler."""
        return RequestIds(super().build_middleware_stack())


def create_app(parts: Parts) -> FastAPI:
    """Return the app; its background work runs while the app is served."""
    app = App(
        title="storyshelf",
        version=own_version(),
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # it loads scripts from elsewhere; ours is in `ui.project_pages`
        redoc_url=None,
        lifespan=lambda _app: _background(parts),
    )
    app.state.parts = parts
    app.state.thumbnails = Thumbnails()
    api = APIRouter(prefix=API)
    for module in (projects, uploads, builds, shards, snapshots, steadiness, images):
        api.include_router(module.router)
    app.include_router(api)
    for each in (health, metrics, *PAGES):
        app.include_router(each.router)
    add_handlers(app, show_problem)
    app.add_middleware(BodyLimit, limit_of=_limits(parts))
    app.add_middleware(NotEmbedded, show=show_problem, open_paths=FOR_MACHINES)
    app.add_middleware(SameOrigin, show=show_problem)
    app.add_middleware(
        KnownHosts,
        public_url=parts.public_url,
        content=ContentHosts.of(parts.content_domain, parts.public_url),
        published=create_site(parts),
        show=show_problem,
    )
    return app


def show_problem(request: Request, problem: Problem) -> Response:
    """Answer an error in the form that the path's readers take."""
    if request.url.path.startswith(IN_JSON):
        return problem.answer()
    return sign_in_pages.lead_to_sign_in(request, problem) or problem_page(request, problem)


def _limits(parts: Parts) -> Callable[[str, str], int]:
    manifest_bytes = MAX_JSON_BYTES + parts.limits.max_files * MANIFEST_BYTES_A_FILE

    def limit_of(method: str, path: str) -> int:
        if method == "PUT":
            return parts.limits.max_file_bytes
        if not path.startswith(FOR_MACHINES):
            is_strangers = path.startswith(Links().sign_in)
            return MAX_STRANGERS_BYTES if is_strangers else MAX_FORM_BYTES
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
