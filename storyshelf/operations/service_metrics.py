"""What a server tells of the whole service, as it stands in the database."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import Metric

from storyshelf.db.engine import Tx
from storyshelf.operations import alarm_store, leader_store, metric_store
from storyshelf.operations.alarm_store import Alarm
from storyshelf.operations.exposition import Took, attempts, gauge, gauges
from storyshelf.operations.leader_store import Leading
from storyshelf.queue import store as queue
from storyshelf.queue.store import LaneLoad, LiveConsumer
from storyshelf.queue.store.bloat import Bloat, bloat
from storyshelf.queue.unserved import SILENT_FOR

LANE_AND_CLASS = ("lane", "class")


@dataclass(frozen=True, slots=True)
class Service:
    """What was read for one scrape."""

    loads: Sequence[LaneLoad]
    consumers: Sequence[LiveConsumer]
    alarms: Sequence[Alarm]
    leading: Leading | None
    bloat: Bloat
    took: Sequence[Took]


async def service_now(tx: Tx) -> Service:
    """Read how the service stands; the price does not rise with the backlog or the history."""
    return Service(
        loads=await queue.lane_loads(tx),
        consumers=await queue.live_consumers(tx, SILENT_FOR),
        alarms=await alarm_store.alarms(tx),
        leading=await leader_store.leading_now(tx),
        bloat=await bloat(tx),
        took=[
            Took(row.kind, row.outcome, row.count, row.wait_ms, row.run_ms, row.waits, row.runs)
            for row in await metric_store.totals_ever(tx)
        ],
    )


def service_families(service: Service, now: datetime) -> Iterator[Metric]:
    """Yield the families of the service."""
    yield from _of_lanes(service.loads, now)
    states = Counter(each.state.value for each in service.consumers)
    yield gauges(
        "consumers",
        "Consumers that beat within the last minute",
        ["state"],
        {(state,): count for state, count in states.items()},
    )
    yield gauges(
        "alarms",
        "How often an alarm was raised that nobody has lowered",
        ["name"],
        {(alarm.name,): alarm.count for alarm in service.alarms},
    )
    term = service.leading.term if service.leading else 0
    yield gauge("leader_term", "Term of the process that leads; 0 while none does", term)
    yield from _of_bloat(service.bloat)
    yield from attempts("service_attempt", "in all consumers, as of the last rollup", service.took)


def _of_lanes(loads: Sequence[LaneLoad], now: datetime) -> Iterator[Metric]:
    yield gauges(
        "queue_jobs",
        "Jobs on a lane by class and state; beyond 1,000 of a sort an estimate",
        [*LANE_AND_CLASS, "state"],
        {
            (load.lane, load.priority.name.lower(), state): count
            for load in loads
            for state, count in (
                ("queued", load.queued),
                ("deferred", load.deferred),
                ("parked", load.parked),
                ("running", load.running),
            )
        },
    )
    yield gauges(
        "queue_oldest_ready_seconds",
        "How long the oldest ready job of a lane and class has waited",
        LANE_AND_CLASS,
        {
            (load.lane, load.priority.name.lower()): (now - load.oldest_at).total_seconds()
            for load in loads
            if load.oldest_at is not None
        },
    )


def _of_bloat(found: Bloat) -> Iterator[Metric]:
    oldest_s = found.oldest.age.total_seconds() if found.oldest else 0.0
    yield gauge(
        "oldest_transaction_seconds",
        "Age of the oldest open transaction, before which nothing is cleared away",
        oldest_s,
    )
    yield gauges(
        "queue_table_rows",
        "Rows of the table of unfinished jobs, as PostgreSQL estimates them",
        ["state"],
        {("live",): found.live_rows, ("dead",): found.dead_rows},
    )
