"""What whoever runs the server sees first: lanes, figures, alarms, consumers, and jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from storyshelf.operations.overview import Overview
from storyshelf.queue.store import ConsumerState, LaneLoad, LiveConsumer, UnfinishedJob
from storyshelf.queue.store.bloat import OldTransaction
from storyshelf.queue.store.depths import COUNTED_UP_TO
from storyshelf.ui.view_models.alarms import AlarmLine, alarm_line
from storyshelf.ui.view_models.consumers import ConsumerLine, consumer_line
from storyshelf.ui.view_models.frame import Tab
from storyshelf.ui.view_models.job_lines import (
    CLASS_WORDS,
    Failures,
    JobLine,
    Names,
    failed_line,
    unfinished_line,
)
from storyshelf.ui.view_models.kinds import KindLine, kind_line
from storyshelf.ui.view_models.throughput import Chart, chart_of
from storyshelf.ui.words import When, short_lane, span, when_at_all
from storyshelf.web.links import Links, with_query
from storyshelf.web.paging import cursor_of

REFRESH_S = 5
OLD = timedelta(minutes=1)  # of a transaction: the queue's own take seconds


class Section(StrEnum):
    """The tabs of the operations pages."""

    NOW = "Now"
    JOBS = "Jobs"
    USERS = "Users"
    AUDIT = "Audit"


SECTIONS = {
    Section.NOW: "",
    Section.JOBS: "/jobs",
    Section.USERS: "/users",
    Section.AUDIT: "/audit",
}


@dataclass(frozen=True, slots=True)
class LaneLine:
    """One class of a lane."""

    lane: str
    lane_short: str
    class_: str
    queued: str
    deferred: str
    parked: str
    running: str
    oldest: When | None
    consumers: int
    jobs_link: str | None  # to those that are queued, from the first of this class on
    parked_link: str | None


@dataclass(frozen=True, slots=True)
class OperationsPage:
    """The server as it is now."""

    title: str
    tabs: Sequence[Tab]
    live_link: str
    refresh_s: int
    alarms: Sequence[AlarmLine]
    dismiss_link: str
    lanes: Sequence[LaneLine]
    consumers: Sequence[ConsumerLine]
    others: Sequence[JobLine]  # that run on no live consumer
    queued: Sequence[JobLine]
    queued_link: str | None
    deferred: Sequence[JobLine]
    deferred_link: str | None
    failed: Sequence[JobLine]
    failed_link: str | None
    leader: str
    term: int | None
    kinds: Sequence[KindLine]
    chart: Chart | None
    old_transaction: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Jobs that the page names one by one, one more than are shown, and what they are for."""

    next_up: Sequence[UnfinishedJob]
    deferred: Sequence[UnfinishedJob]
    failures: Failures
    names: Names


def operations_page(found: Overview, listed: Listed, shown: int, now: datetime) -> OperationsPage:
    """Return what the page says; `shown` jobs of each sort, for more there is a list."""
    names, live = listed.names, {one.consumer.id for one in found.consumers}
    lost = [job for job in found.running if job.consumer_id not in live]
    failures = listed.failures
    return OperationsPage(
        title="Operations",
        tabs=tabs(Section.NOW),
        live_link=Links().operations,
        refresh_s=REFRESH_S,
        alarms=[alarm_line(alarm, now) for alarm in found.alarms],
        dismiss_link=f"{Links().operations}/alarms",
        lanes=[lane_line(load, found.consumers, now) for load in found.loads],
        consumers=[consumer_line(one, found.running, names, now) for one in found.consumers],
        others=[unfinished_line(job, names, now) for job in lost[:shown]],
        queued=[unfinished_line(job, names, now) for job in listed.next_up],
        queued_link=_list("queued") if listed.next_up else None,
        deferred=[unfinished_line(job, names, now) for job in listed.deferred[:shown]],
        deferred_link=_list("deferred") if len(listed.deferred) > shown else None,
        failed=[failed_line(job, failures, names, now) for job in failures.jobs[:shown]],
        failed_link=_list("failed") if len(failures.jobs) > shown else None,
        leader="" if found.leading is None else found.leading.holder,
        term=None if found.leading is None else found.leading.term,
        kinds=[kind_line(each) for each in found.kinds],
        chart=chart_of(found.throughput),
        old_transaction=_old_transaction(found.oldest_transaction),
    )


def tabs(here: Section) -> Sequence[Tab]:
    """Return the tabs of the operations pages."""
    link = Links().operations
    return [Tab(each, f"{link}{path}", each is here) for each, path in SECTIONS.items()]


def _list(show: str) -> str:
    return f"{Links().operations}/jobs?show={show}"


def lane_line(load: LaneLoad, consumers: Sequence[LiveConsumer], now: datetime) -> LaneLine:
    """Return a class of a lane with how many consumers take from it."""
    serving = [
        one
        for one in consumers
        if load.lane in one.consumer.lanes and one.state is ConsumerState.RUNNING
    ]
    return LaneLine(
        lane=load.lane,
        lane_short=short_lane(load.lane),
        class_=CLASS_WORDS[load.priority],
        queued=_depth(load.queued),
        deferred=_depth(load.deferred),
        parked=_depth(load.parked),
        running=_depth(load.running),
        oldest=when_at_all(load.oldest_at, now),
        consumers=len(serving),
        jobs_link=_queued_from(load) if load.queued else None,
        parked_link=_list("parked") if load.parked else None,
    )


def _queued_from(load: LaneLoad) -> str:
    before_all = cursor_of(load.lane, int(load.priority), 0, 0)
    return with_query(f"{Links().operations}/jobs", {"show": "queued", "after": before_all})


def _depth(jobs: int) -> str:
    return f"about {jobs:,}" if jobs > COUNTED_UP_TO else f"{jobs:,}"


def _old_transaction(found: OldTransaction | None) -> str:
    if found is None or found.age < OLD:
        return ""
    return (
        f"{found.application or 'A session'} (process {found.pid} of the database, {found.state})"
        f" has had a transaction open for {span(found.age.total_seconds())}"
    )
