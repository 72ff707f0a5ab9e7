"""A job: its states, its classes, a lease on it, and the ways one attempt can end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import Any

from storyshelf.errors import StoryshelfError
from storyshelf.ids import BuildId, JobId, LeaseToken, ProjectId

Payload = Mapping[str, Any]


class JobState(StrEnum):
    """Where a job stands; the last three live in `jobs_done`."""

    QUEUED = "queued"
    DEFERRED = "deferred"
    PARKED = "parked"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


NEXT_STATES: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED}),
    JobState.DEFERRED: frozenset({JobState.QUEUED, JobState.CANCELLED}),
    JobState.PARKED: frozenset({JobState.QUEUED, JobState.CANCELLED}),  # its project has its share
    JobState.RUNNING: frozenset(
        {
            JobState.DONE,
            JobState.DEFERRED,  # a retry waits for its time
            JobState.QUEUED,  # released, or its lease ran out with attempts left
            JobState.FAILED,
            JobState.CANCELLED,
        }
    ),
    JobState.DONE: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}


class Priority(IntEnum):
    """The classes of a lane; a higher one goes first."""

    MAINTENANCE = 0
    DEFAULT = 10
    INTERACTIVE = 20


class Outcome(StrEnum):
    """How an attempt ended: the words of metrics, logs and `job_attempts`."""

    COMPLETED = "completed"
    RETRIED = "retried"
    FAILED = "failed"
    UNHANDLED = "unhandled"
    DROPPED = "dropped"
    LOST = "lost"
    CANCELLED = "cancelled"
    RELEASED = "released"
    CRASHED = "crashed"


STATE_AFTER: dict[Outcome, JobState | None] = {
    Outcome.COMPLETED: JobState.DONE,
    Outcome.RETRIED: JobState.DEFERRED,
    Outcome.FAILED: JobState.FAILED,
    Outcome.UNHANDLED: JobState.FAILED,
    Outcome.DROPPED: JobState.FAILED,
    Outcome.LOST: None,  # the job is somebody else's: nothing is written
    Outcome.CANCELLED: JobState.CANCELLED,
    Outcome.RELEASED: JobState.QUEUED,
    Outcome.CRASHED: JobState.FAILED,  # with no attempt left; else it is deferred
}


@dataclass(frozen=True, slots=True)
class Trace:
    """What a job is found by in the logs: the request that began it, and its W3C trace context."""

    request_id: str | None = None
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to be enqueued; `lane` is complete, with `@<environment>` where there is one."""

    kind: str
    lane: str
    payload: Payload
    project_id: ProjectId | None = None
    build_id: BuildId | None = None
    generation: int = 0
    priority: Priority = Priority.DEFAULT
    dedupe_key: str | None = None  # unique among live jobs
    max_attempts: int = 3
    delay: timedelta = timedelta()
    trace: Trace = Trace()


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job until a database time, proven by its token."""

    job_id: JobId
    token: LeaseToken
    kind: str
    lane: str
    payload: Payload
    project_id: ProjectId | None
    build_id: BuildId | None
    generation: int
    attempt: int
    charged: int
    max_attempts: int
    priority: Priority = Priority.DEFAULT
    fair_tag: int = 0
    waited_ms: int = 0  # from when it was enqueued, or due, until this claim
    trace: Trace = Trace()


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that left the queue without success, as its kind's `ended` is told of it."""

    job_id: JobId
    kind: str
    payload: Payload
    project_id: ProjectId | None
    build_id: BuildId | None
    generation: int


@dataclass(frozen=True, slots=True)
class Completed:
    """The handler returned; `result` is what `apply` will write."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class Retried:
    """The handler failed and may try again after the delay."""

    after: timedelta
    error: str


@dataclass(frozen=True, slots=True)
class Requeued:
    """Not done, not failed: back to the queue uncharged, for another round."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt ended the job without success; `outcome` says in which way."""

    error: str
    outcome: Outcome = Outcome.FAILED


@dataclass(frozen=True, slots=True)
class Crashed:
    """What worked on it died, again and again: another try after the delay, if one is left."""

    after: timedelta
    error: str


Ending = Completed | Retried | Requeued | Failed | Crashed


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """One attempt as metrics count it; `phases_ms` says where its time went."""

    kind: str
    lane: str
    outcome: Outcome
    attempt: int
    waited_ms: int
    ran_ms: int
    phases_ms: Mapping[str, int] = field(default_factory=dict)


class LeaseLostError(StoryshelfError):
    """The lease is somebody else's by now, or the job is gone."""

    http_status = 409

    def __init__(self, job_id: JobId, attempt: int) -> None:
        super().__init__(
            "The lease on the job was lost",
            where=f"job {job_id}, attempt {attempt}",
            next_step="Nothing was written; whoever holds the job now will finish it.",
        )
        self.job_id = job_id
        self.attempt = attempt


class MalformedPayloadError(StoryshelfError):
    """A payload that its kind cannot read; no retry can mend it."""

    def __init__(self, kind: str, problem: str) -> None:
        super().__init__(
            f"The payload of a {kind} job is malformed: {problem}",
            next_step="The job is dropped; run the action that enqueued it again.",
        )


@dataclass(frozen=True, slots=True)
class Claimed:
    """What one claim brought.

    `next_due_s`: 0 if deferred jobs became ready just now and may be claimed, else the seconds
    until the next one does, None when there is none. `overdue`: there are jobs whose lease ran out
    and who get no other attempt, so that someone has to end them.
    `parked`: jobs wait for their project's share; None: nobody looked. `taken_over`: leases that
    were another's before.
    """

    leases: tuple[Lease, ...]
    next_due_s: float | None = None
    overdue: bool = False
    parked: bool | None = False
    taken_over: int = 0
