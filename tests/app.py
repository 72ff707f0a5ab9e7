"""The product's own app, asked in process over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from storyshelf.auth.passwords import Passwords
from storyshelf.auth.secrets import Secrets
from storyshelf.auth.sign_in import Door
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.deliveries.outbound import Outbound
from storyshelf.operations.kinds import every_kind
from storyshelf.queue.job_kind import JobKinds
from storyshelf.server import create_app
from storyshelf.storage.local import LocalBlobs
from storyshelf.wiring import Parts
from tests.people import CHEAP

PUBLIC_URL = "http://shelf.test"
CONTENT_DOMAIN = "content.shelf.test"


def parts_on(db: Database, blobs: Path, limits: ManifestLimits | None = None) -> Parts:
    clock = SystemClock()
    return Parts(
        db=db,
        blobs=LocalBlobs(blobs),
        kinds=JobKinds(every_kind()),
        clock=clock,
        door=Door(db, clock, passwords=Passwords(CHEAP)),
        limits=limits or ManifestLimits(),
        public_url=PUBLIC_URL,
        content_domain=CONTENT_DOMAIN,
        secrets=Secrets(b"k" * 32),
        ask=Outbound(allows_private=True, timeout_s=5.0),
    )


@asynccontextmanager
async def asking(parts: Parts) -> AsyncIterator[httpx.AsyncClient]:
    """Ask without a token; an error inside is answered, as a server would."""
    transport = httpx.ASGITransport(create_app(parts), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as client:
        yield client
