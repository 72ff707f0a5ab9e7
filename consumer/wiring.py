"""The composition root of a consumer: settings become parts, and parts find each other here."""

import os
import random
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

from consumer import allowance
from consumer.browsers import find_browser, system_search
from consumer.environment import Environment
from consumer.health import Figures
from consumer.heartbeat import Heartbeat
from consumer.isolation import Ground
from consumer.kinds.capture import CaptureHandler
from consumer.kinds.deliver import DeliverHandler, Sender
from consumer.kinds.finalise import finalise_handler
from consumer.kinds.lost_content import noting_lost_content
from consumer.kinds.maintain import TidyHandler
from consumer.kinds.moved import ending_when_moved
from consumer.kinds.photograph import Photographer
from consumer.kinds.plan import PlanHandler, PlanLimits
from consumer.kinds.shelf import Shelf
from consumer.kinds.trace import TraceHandler
from consumer.lending import Lender
from consumer.machine import is_gone, own_machine, own_start_ticks
from consumer.outlet.outlet import ANSWER_WITHIN_S as STORY_ANSWER_WITHIN_S
from consumer.outlet.outlet import Outlets
from consumer.requests import Limits, memory_ceiling_bytes
from consumer.slot_sizes import Captures, SlotSizes, default_slots
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import Supervisor
from consumer.waits import waits_within
from storyshelf import logs
from storyshelf.auth.secrets import secrets_of
from storyshelf.builds.jobs import BUILD_LANE, CAPTURE, CAPTURE_LANE, FINALISE, PLAN, PLAN_LANE
from storyshelf.client.version import own_version
from storyshelf.clock import Clock, SystemClock
from storyshelf.db.engine import ANSWER_WITHIN_S, Database
from storyshelf.db.running import running_url
from storyshelf.deliveries.kinds import DELIVER, DELIVER_LANE
from storyshelf.deliveries.outbound import Outbound
from storyshelf.ids import ConsumerId, ProjectId
from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.flush import Flush
from storyshelf.operations.full_storage import alarm_full, lower_full
from storyshelf.operations.housekeeping import passes
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.office import Office
from storyshelf.operations.process_metrics import ConsumerMetrics, Standing
from storyshelf.operations.tidy_job import MAINTAIN_LANE, TIDY
from storyshelf.projects import store as projects
from storyshelf.projects.allowed_hosts import AllowedHost
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.queue.job_kind import Handle, JobKind, JobKinds
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.reclaim import Reclaim
from storyshelf.queue.store import Consumer, ConsumerState
from storyshelf.queue.tally import Tally
from storyshelf.settings import Settings, read_settings
from storyshelf.storage.local import LocalBlobs
from storyshelf.traces.kinds import TRACE
from storyshelf.wiring import house_of, process_name


@dataclass(frozen=True, slots=True)
class Frame:
    """What a consumer is made of before it is known what its browser is."""

    settings: Settings
    db: Database
    clock: Clock
    failpoint: Failpoint
    tally: Tally = field(default_factory=Tally)
    accumulator: Accumulator = field(default_factory=lambda: Accumulator(SystemClock().monotonic))

    @property
    def slot_sizes(self) -> SlotSizes:
        """Return how many jobs run at once: what is said, else what fits the machine."""
        settings = self.settings
        captures = default_slots(allowance.cpus(), allowance.memory_bytes(), settings.plan_slots)
        if settings.capture_slots is not None:
            captures = Captures(settings.capture_slots, "STORYSHELF_CAPTURE_SLOTS")
        return SlotSizes(
            plan=settings.plan_slots,
            capture=captures.count,
            build=settings.build_slots,
            deliver=settings.deliver_slots,
            maintain=settings.maintain_slots,
            because=captures.because,
        )

    @property
    def child_limits(self) -> Limits:
        """Return how many children may live, what each may use, how long they are waited for."""
        slots = self.slot_sizes.children
        waits = waits_within(self.settings.lease_s)
        asked_mb = self.settings.child_memory_mb
        derived = memory_ceiling_bytes(allowance.memory_bytes(), slots)
        return Limits(
            slots=slots,
            open_s=waits.one_s,
            compare_s=waits.one_s,
            write_s=waits.one_s,
            grace_s=waits.grace_s,
            stories_per_child=self.settings.stories_per_child,
            memory_bytes=derived if asked_mb is None else asked_mb << 20,
        )

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
        answer_within_s=min(ANSWER_WITHIN_S, settings.lease_s / 2),
        statement_timeout_s=waits_within(settings.lease_s).one_s,
    )
    return Frame(settings, db, SystemClock(), failpoint)


def introduce(frame: Frame, environment: Environment) -> Consumer:
    """Return the consumer's row; its id is of this run of the process alone."""
    host, pid = socket.gethostname(), os.getpid()
    places = _places(frame, environment)
    return Consumer(
        id=ConsumerId(process_name()),
        host=host,
        pid=pid,
        version=own_version(),
        lanes=tuple(places),
        kinds=tuple(kind.name for kind in every_kind()),
        environment_id=environment.id,
        machine=own_machine(),
        process_started=own_start_ticks(),
        slots=places,
    )


def claiming_side(
    frame: Frame,
    consumer: Consumer,
    supervisor: Supervisor,
    environment: Environment,
    heart: Heartbeat,
) -> ConsumerSide:
    """Put together what claims and runs; the heart beats on its hint line, and is told to hurry."""
    settings = frame.settings
    handled = _handled(frame, supervisor, environment)
    kinds = JobKinds([_ending_when_moved(kind, heart) for kind in handled])
    options = ConsumerOptions(
        consumer_id=consumer.id,
        places=_places(frame, environment),
        clock=frame.clock,
        draw=random.random,
        times=lease_times(settings.lease_s),
        cadence=Cadence(idle_s=settings.idle_poll_s, active_s=settings.active_poll_s),
        failpoint=frame.failpoint,
        observe=frame.accumulator.observe,
        tally=frame.tally,
        probe=heart.beat_on,
        on_consumers_word=heart.now.set,
        also_expire=passes(frame.db, kinds, timedelta(hours=settings.upload_expires_h)),
    )
    return ConsumerSide(frame.db, kinds, options)


def flush_of(frame: Frame) -> Flush:
    """Put together what hands the counted attempts on; its number is of this run alone."""
    return Flush(frame.db, frame.accumulator, frame.clock, nonce=uuid4())


def figures_of(
    frame: Frame, consumer: Consumer, side: ConsumerSide, flush: Flush, offices: Sequence[Office]
) -> Figures:
    """Put together what a scrape of this consumer is answered."""
    metrics = ConsumerMetrics(
        standing=Standing(
            is_hearing=lambda: side.hints.is_connected,
            is_leading=lambda: any(office.leader.is_leading for office in offices),
            tally=frame.tally,
        ),
        accumulator=frame.accumulator,
        flush=flush,
        slots=consumer.slots,
        running=lambda: len(side.running_jobs()),
    )
    return Figures(metrics.exposition, frame.settings.named_metrics_token)


def reclaim_of(frame: Frame, consumer: Consumer) -> Reclaim:
    """Put together what frees the jobs of dead consumers beside this one."""
    return Reclaim(frame.db, JobKinds(every_kind()), consumer, is_gone, frame.tally)


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
    sizes = frame.slot_sizes
    return {
        PLAN_LANE: sizes.plan,
        f"{CAPTURE_LANE}@{environment.id}": sizes.capture,
        BUILD_LANE: sizes.build,
        DELIVER_LANE: sizes.deliver,
        MAINTAIN_LANE: sizes.maintain,
    }


def _handled(frame: Frame, supervisor: Supervisor, environment: Environment) -> tuple[JobKind, ...]:
    settings, db, clock = frame.settings, frame.db, frame.clock
    blobs = LocalBlobs(settings.blob_dir)
    outlets = Outlets(partial(_allowed_hosts, db), _asking_for_stories(settings), clock)
    lender = Lender(supervisor, blobs, clock, environment, outlets.opened)
    shelf = Shelf(
        blobs,
        clock,
        when_full=lambda: alarm_full(db, socket.gethostname(), settings.blob_dir.absolute()),
        when_room=lambda: lower_full(db),
    )
    photographer = Photographer(
        blobs, clock, environment.id, round(1000 * settings.story_timeout_s), shelf
    )
    limits = PlanLimits(
        read_timeout_ms=waits_within(settings.lease_s).read_ms,
        shard_cost_ms=round(1000 * settings.shard_cost_s),
        slots=frame.slot_sizes.capture,
    )
    handlers: Mapping[str, Handle] = {
        PLAN: noting_lost_content(db, PlanHandler(db, blobs, lender, environment, limits)),
        CAPTURE: noting_lost_content(
            db, CaptureHandler(db, lender, photographer, clock, frame.failpoint)
        ),
        FINALISE: finalise_handler,
        DELIVER: DeliverHandler(_sender(frame)),
        TRACE: noting_lost_content(
            db, TraceHandler(db, lender, shelf, round(1000 * settings.story_timeout_s))
        ),
        TIDY: TidyHandler(house_of(settings, db, JobKinds(every_kind())), clock),
    }
    return tuple(kind.handled(handlers[kind.name]) for kind in every_kind())


async def _allowed_hosts(db: Database, project_id: ProjectId) -> Sequence[AllowedHost]:
    async with db.transaction() as tx:
        return (await projects.by_id(tx, project_id)).options.allowed_hosts


def _asking_for_stories(settings: Settings) -> Outbound:
    return Outbound(
        allows_private=settings.stories_to_private,
        timeout_s=min(STORY_ANSWER_WITHIN_S, settings.lease_s / 4),
        allows_plain=True,
    )


def _ending_when_moved(kind: JobKind, heart: Heartbeat) -> JobKind:
    """Have the consumer end when the kind's handler finds that the browser is another one."""
    assert kind.handle is not None, "it was put together here"
    end = partial(heart.conduct.ask, ConsumerState.STOPPING)
    return kind.handled(ending_when_moved(kind.handle, end), kind.cancel)


def _sender(frame: Frame) -> Sender:
    """Put together what sends; one request takes a quarter of a lease at most, all of them half."""
    settings = frame.settings
    return Sender(
        root=settings.served_url,
        ask=Outbound(
            allows_private=settings.webhooks_to_private, timeout_s=min(15.0, settings.lease_s / 4)
        ),
        secrets=secrets_of(settings.named_secret_key, settings.data_dir),
        clock=frame.clock,
        draw=random.random,
        send_within_s=settings.lease_s / 2,
        failpoint=frame.failpoint,
    )
