"""The composition root of a consumer: settings become parts, and parts find each other here."""

import os
import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from consumer import processes
from consumer.browsers import find_browser, system_search
from consumer.environment import Environment
from consumer.isolation import Ground
from consumer.kinds.capture import CaptureHandler
from consumer.kinds.finalise import finalise_handler
from consumer.kinds.lost_content import noting_lost_content
from consumer.kinds.photograph import Photographer
from consumer.kinds.plan import PlanHandler, PlanLimits
from consumer.lending import Lender
from consumer.requests import Limits, memory_ceiling_bytes
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import Supervisor
from storyshelf import logs
from storyshelf.builds.jobs import BUILD_LANE, CAPTURE, CAPTURE_LANE, FINALISE, PLAN, PLAN_LANE
from storyshelf.builds.kinds import build_kinds
from storyshelf.client.version import own_version
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import Database
from storyshelf.db.running import running_url
from storyshelf.ids import ConsumerId
from storyshelf.operations.housekeeping import passes
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.queue.job_kind import Handle, JobKind, JobKinds
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.store import Consumer
from storyshelf.settings import Settings, read_settings
from storyshelf.storage.local import LocalBlobs

BUILD_SLOTS = 2  # finalising needs no browser, and must never wait behind the captures
READ_TIMEOUT_MS = 20_000  # for a bundle to load once; under half a lease


@dataclass(frozen=True, slots=True)
class Frame:
    """What a consumer is made of before it is known what its browser is."""

    settings: Settings
    db: Database
    clock: Clock
    failpoint: Failpoint

    @property
    def capture_slots(self) -> int:
        """Return how many captures run at once: one a core, unless it is said."""
        return self.settings.capture_slots or len(os.sched_getaffinity(0))

    @property
    def child_limits(self) -> Limits:
        """Return how many children may live, what each may use, how long they are waited for."""
        slots = self.capture_slots + self.settings.plan_slots
        ceiling = memory_ceiling_bytes(processes.memory_bytes(), slots)
        return Limits(slots=slots, memory_bytes=ceiling)

    @property
    def grace(self) -> timedelta:
        """Return how long a stop may take."""
        return timedelta(seconds=self.settings.stop_grace_s)

    def ground(self, scratch: Path, environ: Mapping[str, str]) -> Ground:
        """Return what the children's isolation is built on; raises NoBrowserError."""
        browser = find_browser(self.settings.browser_path, system_search(environ))
        uids = SlotUids(locks_folder(), self.settings.slot_uid_base)
        return Ground(browser, scratch, uids, environ)


def read_frame(failpoint: Failpoint = no_failpoint) -> Frame:
    """Read the settings, set up the logging and return the frame; the caller closes its database.

    Raises BadSettingError, NoDatabaseError.
    """
    settings = read_settings()
    logs.configure(settings.log_level, settings.log_format)
    db = Database(
        running_url(settings.named_url, settings.data_dir),
        pool_size=settings.database_pool_size,
        application="storyshelf-consumer",
    )
    return Frame(settings, db, SystemClock(), failpoint)


def introduce(frame: Frame, environment: Environment) -> Consumer:
    """Return the consumer's row; its id is of this run of the process alone."""
    host, pid = socket.gethostname(), os.getpid()
    return Consumer(
        id=ConsumerId(f"{host}:{pid}:{uuid4().hex[:8]}"),
        host=host,
        pid=pid,
        version=own_version(),
        lanes=tuple(_places(frame, environment)),
        kinds=tuple(kind.name for kind in build_kinds()),
        environment_id=environment.id,
    )


def claiming_side(
    frame: Frame, consumer: Consumer, supervisor: Supervisor, environment: Environment
) -> ConsumerSide:
    """Put together what claims and runs."""
    settings = frame.settings
    kinds = JobKinds(_handled(frame, supervisor, environment))
    options = ConsumerOptions(
        consumer_id=consumer.id,
        places=_places(frame, environment),
        clock=frame.clock,
        draw=random.random,
        times=lease_times(settings.lease_s),
        cadence=Cadence(idle_s=settings.idle_poll_s, active_s=settings.active_poll_s),
        failpoint=frame.failpoint,
        also_expire=passes(frame.db, kinds, timedelta(hours=settings.upload_expires_h)),
    )
    return ConsumerSide(frame.db, kinds, options)


def lease_times(lease_s: float) -> LeaseTimes:
    """Return the times that go with a lease, in the proportions of the default one of 60 s."""
    return LeaseTimes(
        lease_for=timedelta(seconds=lease_s),
        renew_every_s=lease_s / 4,
        check_every_s=lease_s / 12,
        margin_s=lease_s / 6,
        answer_within_s=lease_s / 6,
    )


def _places(frame: Frame, environment: Environment) -> dict[str, int]:
    return {
        PLAN_LANE: frame.settings.plan_slots,
        f"{CAPTURE_LANE}@{environment.id}": frame.capture_slots,
        BUILD_LANE: BUILD_SLOTS,
    }


def _handled(frame: Frame, supervisor: Supervisor, environment: Environment) -> tuple[JobKind, ...]:
    settings, db, clock = frame.settings, frame.db, frame.clock
    blobs = LocalBlobs(settings.blob_dir)
    lender = Lender(supervisor, blobs, clock, environment)
    photographer = Photographer(
        blobs, clock, environment.id, round(1000 * settings.story_timeout_s)
    )
    limits = PlanLimits(
        read_timeout_ms=READ_TIMEOUT_MS,
        shard_cost_ms=round(1000 * settings.shard_cost_s),
        slots=frame.capture_slots,
    )
    handlers: Mapping[str, Handle] = {
        PLAN: noting_lost_content(db, PlanHandler(db, blobs, lender, environment, limits)),
        CAPTURE: noting_lost_content(
            db, CaptureHandler(db, lender, photographer, clock, frame.failpoint)
        ),
        FINALISE: finalise_handler,
    }
    return tuple(kind.handled(handlers[kind.name]) for kind in build_kinds())
