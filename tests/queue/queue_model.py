"""What the queue should hold, in plain Python: the words that the real one is held to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storyshelf.ids import ConsumerId, JobId, LeaseToken
from storyshelf.queue.job import (
    Completed,
    Crashed,
    Ending,
    Failed,
    Lease,
    NewJob,
    Outcome,
    Priority,
    Requeued,
    Retried,
)
from storyshelf.queue.slots import Offer

ENDED = {
    Outcome.COMPLETED: "done",
    Outcome.FAILED: "failed",
    Outcome.CANCELLED: "cancelled",
    Outcome.CRASHED: "failed",
}
NOTHING = Offer(0, 0)
LOWEST = Priority.MAINTENANCE
WAITING = {"queued", "deferred", "parked"}


@dataclass(slots=True)
class ModelJob:
    """What the queue should hold of one job."""

    job_id: JobId
    new: NewJob
    state: str
    tag: int
    capped: bool
    priority: int
    attempt: int = 0
    charged: int = 0
    token: LeaseToken | None = None
    consumer: ConsumerId | None = None
    is_due: bool = False  # for a deferred one
    has_recorded: bool = False
    has_expired: bool = False
    is_cancelled: bool = False
    is_asked_back: bool = False

    @property
    def turn(self) -> tuple[int, int]:
        return self.tag, self.job_id

    @property
    def is_live(self) -> bool:
        return self.state in WAITING | {"running"}

    @property
    def has_run_out(self) -> bool:
        return self.state == "running" and self.has_expired

    @property
    def may_be_taken_over(self) -> bool:
        return self.has_run_out and self.charged < self.new.max_attempts and not self.is_cancelled

    @property
    def is_overdue(self) -> bool:
        return self.has_run_out and not self.may_be_taken_over

    def give(self, lease: Lease, consumer: ConsumerId) -> None:
        self.state, self.token, self.consumer = "running", lease.token, consumer
        self.attempt += 1
        self.charged += 1
        self.has_recorded = self.has_expired = self.is_asked_back = False

    def put_back(self, state: str) -> None:
        self.state, self.token, self.consumer = state, None, None
        self.is_asked_back = False

    def cancel(self) -> bool:
        """Cancel it; return whether that ended it."""
        if self.state == "running":
            self.is_cancelled = True
            return False
        self.put_back("cancelled")
        return True

    def settle(self, ending: Ending) -> Outcome:
        """End the attempt as it is said to end; return what really becomes of it."""
        outcome = self._outcome_of(ending)
        if outcome is Outcome.RELEASED:
            self.charged -= 0 if self.has_recorded else 1
            self.put_back("queued")
        elif outcome is Outcome.RETRIED or (
            outcome is Outcome.CRASHED and self.charged < self.new.max_attempts
        ):
            assert isinstance(ending, Retried | Crashed)
            self.is_due = not ending.after
            self.put_back("deferred")
        else:
            self.put_back(ENDED[outcome])
        return outcome

    def _outcome_of(self, ending: Ending) -> Outcome:  # noqa: PLR0911  # one an ending
        match ending:
            case Completed():
                return Outcome.COMPLETED
            case Failed():
                return Outcome.FAILED
            case Retried() | Requeued() | Crashed() if self.is_cancelled:
                return Outcome.CANCELLED
            case Retried():
                is_last = self.charged >= self.new.max_attempts
                return Outcome.FAILED if is_last else Outcome.RETRIED
            case Requeued():
                return Outcome.RELEASED
            case Crashed():
                return Outcome.CRASHED


@dataclass(frozen=True, slots=True)
class Asked:
    """What a claim asks for on a lane; no kinds: any."""

    lane: str
    offer: Offer = NOTHING
    kinds: tuple[str, ...] | None = None

    def takes(self, job: ModelJob) -> bool:
        return job.new.lane == self.lane and (self.kinds is None or job.new.kind in self.kinds)


@dataclass(slots=True)
class QueueModel:
    """All jobs there ever were, and the caps of projects."""

    jobs: dict[JobId, ModelJob] = field(default_factory=dict)
    caps: dict[int, int] = field(default_factory=dict)

    def in_state(self, *states: str) -> list[ModelJob]:
        return [job for job in self.jobs.values() if job.state in states]

    def is_taken(self, dedupe_key: str | None) -> bool:
        return dedupe_key is not None and any(
            job.is_live and job.new.dedupe_key == dedupe_key for job in self.jobs.values()
        )

    def add(self, row: Mapping[str, Any], new: NewJob) -> None:
        """Add the job that this row was made for; of the row, its id and tag are believed."""
        capped = new.project_id in self.caps and "@" in new.lane
        state = "deferred" if new.delay else "parked" if capped else "queued"
        self.jobs[row["id"]] = ModelJob(
            row["id"], new, state, row["fair_tag"], capped, int(new.priority)
        )

    def promote_due(self) -> int:
        due = [job for job in self.in_state("deferred") if job.is_due]
        for job in due:
            job.state = "queued"
        return len(due)

    def next_of(self, asked: Asked, expired: int) -> list[JobId]:
        """Return what a claim takes of the lane's ready jobs, behind so many expired ones."""
        free, shared = asked.offer.free - expired, asked.offer.shared - expired
        urgent = self._ready(asked, Priority.INTERACTIVE)[: max(free, 0)]
        places = max(min(shared, free - len(urgent)), 0)
        default = self._ready(asked, Priority.DEFAULT)[:places]
        rest = self._ready(asked, Priority.MAINTENANCE)[: places - len(default)]
        return [*urgent, *default, *rest]

    def _ready(self, asked: Asked, priority: Priority) -> list[JobId]:
        ready = [
            job
            for job in self.in_state("queued")
            if asked.takes(job)
            and job.priority == priority
            and job.tag >= asked.offer.floors.get(priority, job.tag)
        ]
        return [job.job_id for job in sorted(ready, key=lambda job: job.turn)]

    def to_take_over(self, asked: Asked) -> tuple[set[JobId], int]:
        """Return the expired jobs that a claim may take of the lane, and how many it takes."""
        may = {
            job.job_id
            for job in self.jobs.values()
            if asked.takes(job)
            and job.may_be_taken_over
            and (job.priority == Priority.INTERACTIVE or asked.offer.shared > 0)
        }
        return may, min(len(may), asked.offer.shared or asked.offer.free)

    def old_heads(self, each: int) -> set[JobId]:
        """Return the first jobs of maintenance of every lane."""
        lanes = {job.new.lane for job in self.in_state("queued")}
        return {job_id for lane in lanes for job_id in self._ready(Asked(lane), LOWEST)[:each]}

    def let_in(self) -> int:
        """Queue the parked jobs that have a place; return how many those are."""
        projects = {job.new.project_id for job in self.in_state("parked")}
        return sum(_queue(self._let_in_of(project)) for project in projects)

    def _let_in_of(self, project: int | None) -> Iterable[ModelJob]:
        parked = [job for job in self.in_state("parked") if job.new.project_id == project]
        parked.sort(key=lambda job: (-job.priority, *job.turn))
        if project not in self.caps:
            return parked
        taken = sum(
            job.capped and job.is_live and job.state != "parked" and job.new.project_id == project
            for job in self.jobs.values()
        )
        return parked[: max(self.caps[project] - taken, 0)]


def _queue(jobs: Iterable[ModelJob]) -> int:
    let_in = list(jobs)
    for job in let_in:
        job.state = "queued"
    return len(let_in)
