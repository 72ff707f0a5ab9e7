"""The product's own app, asked in process over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from storyshelf.builds.kinds import build_kinds
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.job_kind import JobKinds
from storyshelf.server import create_app
from storyshelf.storage.local import LocalBlobs
from storyshelf.wiring import Parts

PUBLIC_URL = "http://shelf.test"


def parts_on(db: Database, blobs: Path, limits: ManifestLimits | None = None) -> Parts:
    return Parts(
        db=db,
        blobs=LocalBlobs(blobs),
        kinds=JobKinds(build_kinds()),
        clock=SystemClock(),
        limits=limits or ManifestLimits(),
        public_url=PUBLIC_URL,
    )


@asynccontextmanager
async def asking(parts: Parts) -> AsyncIterator[httpx.AsyncClient]:
    """Ask without a token; an error inside is answered, as a server would."""
    transport = httpx.ASGITransport(create_app(parts), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as client:
        yield client
