"""The composition root of the server: settings become parts, and parts find each other here."""

import os
import random
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from uuid import uuid4

from storyshelf.auth.passwords import Passwords
from storyshelf.auth.secrets import Secrets, secrets_of
from storyshelf.auth.session_store import SessionLife
from storyshelf.auth.sign_in import Door
from storyshelf.bundle.manifest import ManifestLimits
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.deliveries.outbound import Ask, Outbound
from storyshelf.operations.duties import Keeping, WhileCapturing, duties
from storyshelf.operations.housekeeping import passes
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.leader import DatabaseLease, Leader
from storyshelf.operations.office import Office
from storyshelf.operations.periodic import Scheduler
from storyshelf.operations.process_metrics import Standing
from storyshelf.operations.retention import Limits
from storyshelf.operations.tidy import House
from storyshelf.operations.unserved_work import UnservedWork
from storyshelf.queue.expiry import Chore, ExpiryTimer
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.tally import Tally
from storyshelf.queue.unserved import Patience, UnservedWatch
from storyshelf.queue.wakeup import HintLine
from storyshelf.settings import Settings
from storyshelf.storage.blobs import Blobs
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.local_sweep import LocalSweeper

ASK_WITHIN_S = 10.0  # somebody waits for it


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
    content_domain: str
    secrets: Secrets
    door: Door
    ask: Ask  # forges and webhooks, for people who try a connection
    standing: Standing = field(default_factory=Standing)
    metrics_token: str | None = None  # none: figures are shown on this machine only
    background: Sequence[RunsForever] = ()


@asynccontextmanager
async def open_parts(settings: Settings, database_url: str) -> AsyncIterator[Parts]:
    """Open what the server needs, and close it at the end."""
    db = Database(
        database_url, pool_size=settings.database_pool_size, application="storyshelf serve"
    )
    kinds, clock, passwords = JobKinds(every_kind()), SystemClock(), Passwords()
    tally = Tally()
    hints = HintLine(db.direct_connection, clock, on_word=lambda _word: None)
    db.announce = hints.send
    told = UnservedWork(db, kinds).tell
    unserved = UnservedWatch(db, kinds, clock, patience_of(settings), told)
    watch = Chore(unserved.look, unserved.run_once)
    offices = offices_of(settings, db, clock, f"server {process_name()}")
    also = (*passes(db, kinds, timedelta(hours=settings.upload_expires_h)), watch)
    try:
        yield Parts(
            db=db,
            blobs=LocalBlobs(settings.blob_dir),
            kinds=kinds,
            clock=clock,
            limits=limits_of(settings),
            public_url=settings.served_url,
            content_domain=settings.content_domain,
            secrets=secrets_of(settings.named_secret_key, settings.data_dir),
            door=Door(db, clock, session_life_of(settings), passwords),
            ask=Outbound(allows_private=settings.webhooks_to_private, timeout_s=ASK_WITHIN_S),
            standing=Standing(
                is_hearing=lambda: hints.is_connected,
                is_leading=lambda: any(office.leader.is_leading for office in offices),
                tally=tally,
            ),
            metrics_token=settings.named_metrics_token,
            background=(
                hints,
                ExpiryTimer(db, kinds, clock, random.random, also, tally),
                *offices,
            ),
        )
    finally:
        passwords.close()
        await db.close()


def session_life_of(settings: Settings) -> SessionLife:
    """Return how long somebody stays signed in."""
    return SessionLife(
        at_most=timedelta(days=settings.session_days),
        idle=timedelta(days=settings.session_idle_days),
    )


def house_of(settings: Settings, db: Database, kinds: JobKinds) -> House:
    """Return what is tidied: builds past the limits, and blobs that nothing refers to."""
    return House(
        db,
        kinds,
        LocalSweeper(settings.blob_dir),
        Limits(settings.keep_builds, settings.keep_days),
        timedelta(hours=settings.blob_grace_h),
    )


def offices_of(settings: Settings, db: Database, clock: Clock, holder: str) -> Sequence[Office]:
    """Return the leader's office of this process; none if it may not lead."""
    if not settings.leads:
        return ()
    captures = WhileCapturing(db)
    leader = Leader(DatabaseLease(db, holder, captures.look), clock, random.random)
    keeping = Keeping(
        jobs=timedelta(days=settings.keep_jobs_days),
        samples=timedelta(days=settings.queue_history_days),
    )
    tasks = duties(db, captures, keeping)
    return (Office(leader, Scheduler(db, leader, clock, random.random, tasks)),)


def process_name() -> str:
    """Return a name that is of this run of this process alone, and says where it is."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"


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
