"""Everything of one job: what it is, how it stands, each try at it, and what can be done."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.ids import JobId
from storyshelf.operations.asked_again import Again, KnownNow
from storyshelf.queue.job import JobState, Outcome, Payload
from storyshelf.queue.store import Attempt, KnownJob
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.frame import Tab
from storyshelf.ui.view_models.job_lines import (
    CLASS_WORDS,
    JOB_SIGNS,
    Names,
    Purpose,
    purpose_of,
    standing,
)
from storyshelf.ui.view_models.operations import REFRESH_S, Section, tabs
from storyshelf.ui.words import When, due, lasting, number_of, span, when, when_at_all
from storyshelf.web.links import Links

MOST_PAYLOAD_CHARS = 4_000  # a plan of many stories may carry more than anybody reads
ENDED_REFRESH_S = 3_600  # for who has seen it end: script asks on, and nothing moves any more
OUTCOME_SIGNS = {
    Outcome.COMPLETED: Sign("completed", "good"),
    Outcome.RETRIED: Sign("retried", "wait"),
    Outcome.FAILED: Sign("failed", "bad"),
    Outcome.UNHANDLED: Sign("unhandled", "bad"),
    Outcome.DROPPED: Sign("dropped", "bad"),
    Outcome.LOST: Sign("lost", "wait"),
    Outcome.CANCELLED: Sign("cancelled", "quiet"),
    Outcome.RELEASED: Sign("released", "quiet"),
    Outcome.CRASHED: Sign("crashed", "bad"),
}
RETRIABLE = {JobState.FAILED, JobState.CANCELLED}
UNDER_WAY = JOB_SIGNS[JobState.RUNNING]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something of a job that is said in words, or by name, or that is a moment."""

    name: str
    words: str = ""
    code: str = ""
    moment: When | None = None


@dataclass(frozen=True, slots=True)
class AttemptLine:
    """A try at the job; the last one may still be under way."""

    number: int
    sign: Sign
    consumer: str
    started: When | None
    ended: When | None
    took: str
    error: str


@dataclass(frozen=True, slots=True)
class JobPage:
    """A job."""

    title: str
    tabs: Sequence[Tab]
    id: JobId
    kind: str
    sign: Sign
    purpose: Purpose
    live_link: str | None  # None: it has ended, and nothing of it moves any more
    refresh_s: int
    facts: Sequence[Fact]
    error: str
    attempts: Sequence[AttemptLine]
    payload: str
    payload_note: str
    again: Again | None
    again_link: str | None
    retry_link: str | None
    release_link: str | None
    cancel_link: str | None


def job_page(found: KnownNow, names: Names, now: datetime) -> JobPage:
    """Return what the page says of a job."""
    job, again = found.job, found.again
    link, has_ended = Links().job(job.job_id), job.finished_at is not None
    is_asked = job.cancel_requested_at is not None
    is_held = job.state is JobState.RUNNING and job.release_requested_at is None
    payload = _printed(job.payload)
    attempts = [_ended(one, now) for one in found.ended]
    return JobPage(
        title=f"Job {job.job_id}",
        tabs=tabs(Section.JOBS),
        id=job.job_id,
        kind=job.kind,
        sign=standing(job),
        purpose=purpose_of(job.build_id, job.project_id, names),
        live_link=None if has_ended else link,
        refresh_s=ENDED_REFRESH_S if has_ended else REFRESH_S,
        facts=_facts(job, names, now),
        error=job.error or "",
        attempts=[*attempts, *_under_way(job, now)],
        payload=payload[:MOST_PAYLOAD_CHARS],
        payload_note=_cut_note(payload),
        again=again,
        again_link=Links().job(again.job_id) if again and again.job_id else None,
        retry_link=_if(f"{link}/retry", job.state in RETRIABLE and again is None),
        release_link=_if(f"{link}/release", is_held and not is_asked),
        cancel_link=_if(f"{link}/cancel", not has_ended and not is_asked),
    )


def _if(link: str, is_offered: bool) -> str | None:  # noqa: FBT001  # the condition itself
    return link if is_offered else None


def _facts(job: KnownJob, names: Names, now: datetime) -> Sequence[Fact]:
    told = (
        Fact("Lane", code=job.lane),
        Fact("Class", CLASS_WORDS[job.priority]),
        Fact("Attempts", f"{job.attempt}, {job.charged} of {job.max_attempts} charged"),
        Fact("Enqueued", moment=when(job.enqueued_at, now)),
        Fact("Waited", _waited(job, now)),
        Fact("Due", moment=_due(job, now)),
        Fact("First started", moment=when_at_all(job.started_at, now)),
        Fact("Ended", moment=when_at_all(job.finished_at, now)),
        Fact("From start to end", _took(job.started_at, job.finished_at)),
        Fact("Last progress", moment=when_at_all(job.progress_at, now)),
        Fact("Lease ends", moment=_lease_end(job, now)),
        Fact("Asked to stop", moment=when_at_all(job.cancel_requested_at, now)),
        Fact("Asked back", moment=when_at_all(job.release_requested_at, now)),
        Fact("Consumer", code=job.consumer_id or ""),
        Fact("Build's generation", str(job.generation) if job.build_id is not None else ""),
        Fact("Request", code=_request(job, names)),
        Fact("Once by", code=job.dedupe_key or ""),
    )
    return [fact for fact in told if fact.words or fact.code or fact.moment]


def _request(job: KnownJob, names: Names) -> str:
    """Return what logs are searched for: of an ended job its build still knows."""
    build = None if job.build_id is None else names.builds.get(job.build_id)
    return job.request_id or (build.request_id if build else None) or ""


def _waited(job: KnownJob, now: datetime) -> str:
    """Return how long it was before anybody began; of a job that nobody will begin, nothing."""
    until = job.started_at or (None if job.finished_at else now)
    return "" if until is None else span(max(0.0, (until - job.enqueued_at).total_seconds()))


def _due(job: KnownJob, now: datetime) -> When | None:
    is_later = job.state is JobState.DEFERRED and job.run_at is not None
    return due(job.run_at, now) if is_later and job.run_at else None


def _lease_end(job: KnownJob, now: datetime) -> When | None:
    return None if job.lease_expires_at is None else due(job.lease_expires_at, now)


def _ended(one: Attempt, now: datetime) -> AttemptLine:
    return AttemptLine(
        number=one.attempt,
        sign=OUTCOME_SIGNS[one.outcome],
        consumer=one.consumer_id or "",
        started=when_at_all(one.started_at, now),
        ended=when(one.ended_at, now),
        took=_took(one.started_at, one.ended_at),
        error=one.error or "",
    )


def _under_way(job: KnownJob, now: datetime) -> Sequence[AttemptLine]:
    if job.state is not JobState.RUNNING or job.attempt_started_at is None:
        return ()
    lasts = lasting(job.attempt_started_at, now).words
    started = when(job.attempt_started_at, now)
    return [AttemptLine(job.attempt, UNDER_WAY, job.consumer_id or "", started, None, lasts, "")]


def _took(start: datetime | None, end: datetime | None) -> str:
    if start is None or end is None:
        return ""
    return span(max(0.0, (end - start).total_seconds()))


def _printed(payload: Payload) -> str:
    return json.dumps(payload, indent=2, ensure_ascii=False, sort_keys=True)


def _cut_note(payload: str) -> str:
    over = len(payload) - MOST_PAYLOAD_CHARS
    return f"{number_of(over, 'character')} more are not shown" if over > 0 else ""
