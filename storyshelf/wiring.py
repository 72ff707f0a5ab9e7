"""The composition root of the server: settings become parts, and parts find each other here."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.builds.kinds import build_kinds
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.job_kind import JobKinds
from storyshelf.settings import Settings
from storyshelf.storage.blobs import Blobs
from storyshelf.storage.local import LocalBlobs


@dataclass(frozen=True, slots=True)
class Parts:
    """What routes, pages and background work are made of."""

    db: Database
    blobs: Blobs
    kinds: JobKinds
    clock: Clock
    limits: ManifestLimits
    public_url: str
    expiry: timedelta
    upload_expires: timedelta


@asynccontextmanager
async def open_parts(settings: Settings, database_url: str) -> AsyncIterator[Parts]:
    """Open what the server needs, and close it at the end."""
    db = Database(database_url, pool_size=settings.database_pool_size, application="storyshelf serve")
    try:
        yield Parts(
            db=db,
            blobs=LocalBlobs(settings.blob_dir),
            kinds=JobKinds(build_kinds()),
            clock=SystemClock(),
            limits=ManifestLimits(
                max_files=settings.max_files,
                max_file_bytes=settings.max_file_bytes,
                max_bundle_bytes=settings.max_bundle_bytes,
            ),
            public_url=settings.public_url or f"http://{settings.host}:{settings.port}",
            expiry=timedelta(seconds=settings.expiry_s),
            upload_expires=timedelta(hours=settings.upload_expires_h),
        )
    finally:
        await db.close()


def draw() -> float:
    """Return a number from 0 to 1: chance, for whoever is handed it."""
    return random.random()
