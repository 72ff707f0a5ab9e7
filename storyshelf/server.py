"""The server: the API and the pages in one app, with the background work that every server does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

from storyshelf.api import builds, health, images, projects, shards, snapshots, uploads
from storyshelf.client.version import own_version
from storyshelf.web.limits import MANIFEST_BYTES_A_FILE, MAX_JSON_BYTES, BodyLimit
from storyshelf.web.problems import add_handlers
from storyshelf.wiring import Parts

API = "/api/v1"
LOOPBACK = ("localhost", "127.0.0.1", "testserver")


def create_app(parts: Parts) -> FastAPI:
    """Return the app; its background work runs while the app is served."""
    app = FastAPI(
        title="storyshelf",
        version=own_version(),
        openapi_url=f"{API}/openapi.json",
        docs_url=f"{API}/docs",
        redoc_url=None,
        lifespan=lambda _app: _background(parts),
    )
    app.state.parts = parts
    api = APIRouter(prefix=API)
    for module in (projects, uploads, builds, shards, snapshots, images):
        api.include_router(module.router)
    app.include_router(api)
    app.include_router(health.router)
    add_handlers(app)
    app.add_middleware(BodyLimit, limit_of=_limits(parts))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=_hosts(parts.public_url))
    return app


def _hosts(public_url: str) -> list[str]:
    named = urlsplit(public_url).hostname
    return [*LOOPBACK, *([named] if named else [])]


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
