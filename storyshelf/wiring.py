"""The composition root of the server: settings become parts, and parts find each other here."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from storyshelf.builds.kinds import build_kinds
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.housekeeping import passes
from storyshelf.queue.expiry import ExpiryTimer
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.unserved import Patience, UnservedWatch
from storyshelf.queue.wakeup import HintLine
from storyshelf.settings import Settings
from storyshelf.storage.blobs import Blobs
from storyshelf.storage.local import LocalBlobs


class RunsForever(Protocol):
    """Background work of a process."""

    async def run_forever(self) -> None:
        """Run until cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What routes, pages and background work are made of."""

    db: Database
    blobs: Blobs
    kinds: JobKinds
    clock: Clock
    limits: ManifestLimits
    public_url: str
    background: Sequence[RunsForever] = ()


@asynccontextmanager
async def open_parts(settings: Settings, database_url: str) -> AsyncIterator[Parts]:
    """Open what the server needs, and close it at the end."""
    db = Database(
        database_url, pool_size=settings.database_pool_size, application="storyshelf serve"
    )
    kinds, clock = JobKinds(build_kinds()), SystemClock()
    hints = HintLine(db.direct_connection, clock, on_word=lambda _word: None)
    db.announce = hints.send
    unserved = UnservedWatch(db, kinds, clock, patience_of(settings))
    also = (*passes(db, kinds, timedelta(hours=settings.upload_expires_h)), unserved.run_once)
    try:
        yield Parts(
            db=db,
            blobs=LocalBlobs(settings.blob_dir),
            kinds=kinds,
            clock=clock,
            limits=limits_of(settings),
            public_url=settings.public_url or f"http://{settings.host}:{settings.port}",
            background=(hints, ExpiryTimer(db, kinds, clock, random.random, also)),
        )
    finally:
        await db.close()


def patience_of(settings: Settings) -> Patience:
    """Return how long a lane may stay without a consumer."""
    return Patience(
        alarm_after=timedelta(seconds=settings.unserved_alarm_s),
        end_after=timedelta(seconds=settings.unserved_end_s),
    )


def limits_of(settings: Settings) -> ManifestLimits:
    """Return what an upload may hold."""
    return ManifestLimits(
        max_files=settings.max_files,
        max_file_bytes=settings.max_file_bytes,
        max_bundle_bytes=settings.max_bundle_bytes,
    )
