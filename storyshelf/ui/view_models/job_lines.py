"""A job as lists print it: what it is for, where it stands, and what can be done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.builds.list_store import NamedBuild
from storyshelf.ids import BuildId, JobId, ProjectId
from storyshelf.queue.job import JobState, Priority
from storyshelf.queue.store import Attempt, FailedJob, KnownJob, UnfinishedJob
from storyshelf.ui.signs import Sign
from storyshelf.ui.words import When, due, lasting, number_of, short_lane, when
from storyshelf.web.links import Links

CLASS_WORDS: Mapping[Priority, str] = {
    Priority.INTERACTIVE: "interactive",
    Priority.DEFAULT: "default",
    Priority.MAINTENANCE: "maintenance",
}
JOB_SIGNS: Mapping[JobState, Sign] = {
    JobState.QUEUED: Sign("queued", "wait"),
    JobState.DEFERRED: Sign("deferred", "wait"),
    JobState.PARKED: Sign("parked", "quiet"),
    JobState.RUNNING: Sign("running", "busy"),
    JobState.DONE: Sign("done", "good"),
    JobState.FAILED: Sign("failed", "bad"),
    JobState.CANCELLED: Sign("cancelled", "quiet"),
}
CANCELLING = Sign("asked to stop", "quiet")
RELEASING = Sign("being given back", "quiet")


@dataclass(frozen=True, slots=True)
class Purpose:
    """The build or project that a job is for; without a link where that was deleted."""

    words: str = ""
    link: str | None = None


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in a list."""

    id: JobId
    link: str
    kind: str
    lane: str
    lane_short: str
    sign: Sign
    since: When
    purpose: Purpose
    attempts: str
    error: str
    tries: Sequence["TryLine"] = ()
    retry_link: str | None = None
    cancel_link: str | None = None
    release_link: str | None = None


@dataclass(frozen=True, slots=True)
class TryLine:
    """An ended attempt, in one line."""

    words: str
    ended: When
    error: str


@dataclass(frozen=True, slots=True)
class Names:
    """What jobs are for: builds, and the slugs of projects."""

    builds: Mapping[BuildId, NamedBuild]
    projects: Mapping[ProjectId, str]


@dataclass(frozen=True, slots=True)
class Failures:
    """Jobs that failed, with their attempts."""

    jobs: Sequence[FailedJob]
    attempts: Sequence[Attempt]


def unfinished_line(job: UnfinishedJob, names: Names, now: datetime) -> JobLine:
    """Return a job that waits or runs."""
    link = Links().job(job.job_id)
    is_asked = job.cancel_requested_at is not None
    is_held = job.state is JobState.RUNNING and job.release_requested_at is None
    return JobLine(
        id=job.job_id,
        link=link,
        kind=job.kind,
        lane=job.lane,
        lane_short=short_lane(job.lane),
        sign=standing(job),
        since=_since(job, now),
        purpose=purpose_of(job.build_id, job.project_id, names),
        attempts=attempts_words(job),
        error=job.last_error or "",
        cancel_link=None if is_asked else f"{link}/cancel",
        release_link=f"{link}/release" if is_held and not is_asked else None,
    )


def failed_line(job: FailedJob, found: Failures, names: Names, now: datetime) -> JobLine:
    """Return a job that failed, with its attempts."""
    link = Links().job(job.job_id)
    return JobLine(
        id=job.job_id,
        link=link,
        kind=job.kind,
        lane=job.lane,
        lane_short=short_lane(job.lane),
        sign=Sign(job.outcome, "bad"),
        since=when(job.finished_at, now),
        purpose=purpose_of(job.build_id, job.project_id, names),
        attempts=f"attempt {job.attempt}",
        error=job.error or "",
        tries=[
            TryLine(
                f"attempt {one.attempt} {one.outcome}", when(one.ended_at, now), one.error or ""
            )
            for one in found.attempts
            if one.job_id == job.job_id
        ],
        retry_link=f"{link}/retry",
    )


def standing(job: UnfinishedJob | KnownJob) -> Sign:
    """Return the sign of a job that was perhaps asked for something; a cancel comes first."""
    if job.state is not JobState.RUNNING:
        return JOB_SIGNS[job.state]
    if job.cancel_requested_at is not None:
        return CANCELLING
    return JOB_SIGNS[job.state] if job.release_requested_at is None else RELEASING


def attempts_words(job: UnfinishedJob) -> str:
    """Return which attempt it is, or how many it had; from the second on, what they cost it."""
    charged = f"{job.charged} of {job.max_attempts} charged"
    if job.state is JobState.RUNNING:
        first, later = f"attempt 1 of {job.max_attempts}", f"attempt {job.attempt}, {charged}"
        return first if job.attempt == 1 else later
    return f"{number_of(job.attempt, 'attempt')}, {charged}" if job.attempt else "no attempt yet"


def purpose_of(build_id: BuildId | None, project_id: ProjectId | None, names: Names) -> Purpose:
    """Return what a job is for."""
    if build_id is not None:
        return named_build(names.builds.get(build_id))
    slug = None if project_id is None else names.projects.get(project_id)
    return Purpose() if slug is None else Purpose(slug, Links().project(slug))


def named_build(build: NamedBuild | None) -> Purpose:
    """Return a build as a list names it; None: it was deleted."""
    if build is None:
        return Purpose("a build that was deleted")
    link = Links().build(build.slug, build.number)
    return Purpose(f"{build.slug}, build {build.number}", link)


def _since(job: UnfinishedJob, now: datetime) -> When:
    if job.state is JobState.RUNNING and job.attempt_started_at is not None:
        return lasting(job.attempt_started_at, now)
    if job.state is JobState.DEFERRED:
        return due(job.run_at, now)
    return when(job.enqueued_at, now)
