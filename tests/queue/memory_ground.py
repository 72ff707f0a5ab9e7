"""The queue in memory, on a clock that the test owns; held to the real one by test_ground.py."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from storyshelf.clock import Clock
from storyshelf.db.engine import Announce, Tx, keep_quiet
from storyshelf.ids import ConsumerId, JobId, LeaseToken
from storyshelf.queue.ground import RunsForever
from storyshelf.queue.job import (
    Claimed,
    Completed,
    Crashed,
    Failed,
    Lease,
    NewJob,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Told
from storyshelf.queue.slots import Offer
from storyshelf.queue.store import Standing
from storyshelf.queue.wakeup import HintConnection

EXPIRY_EVERY_S = 30.0


@dataclass(slots=True)
class Job:
    """A row of the queue."""

    id: JobId
    new: NewJob
    state: str
    run_at: float
    attempt: int = 0
    charged: int = 0
    token: LeaseToken | None = None
    lease_until: float = 0.0
    holder: ConsumerId | None = None
    is_cancelled: bool = False
    is_to_be_released: bool = False


@dataclass(slots=True)
class MemoryQueue:
    """What all consumers share: jobs, how attempts ended, and the line that hints go along."""

    clock: Clock
    times: LeaseTimes = field(default_factory=LeaseTimes)
    jobs: dict[JobId, Job] = field(default_factory=dict)
    done: dict[JobId, Outcome] = field(default_factory=dict)
    attempts: list[tuple[JobId, int, Outcome]] = field(default_factory=list)
    listeners: list[tuple["MemoryHints", Any]] = field(default_factory=list)
    is_away: bool = False  # the database answers nobody
    last_id: int = 0
    last_token: int = 0

    def enqueue(self, *jobs: NewJob) -> list[JobId]:
        """Put jobs on their lanes, and tell nobody."""
        return [self._place(new) for new in jobs]

    def hint(self, word: str) -> None:
        """Have everyone told, as another process would."""
        for connection, callback in self.listeners:
            callback(connection, -1, "", word)

    def cancel(self, job_id: JobId) -> None:
        """End a job that waits, ask one that runs to stop."""
        job = self.jobs[job_id]
        if job.state == "running":
            job.is_cancelled = True
        else:
            self._leave(job, Outcome.CANCELLED)

    def expire(self) -> None:
        """Put back, or end, the jobs whose leases ran out."""
        for job in self._expired():
            self.attempts.append((job.id, job.attempt, Outcome.LOST))
            if job.is_cancelled:
                self._leave(job, Outcome.CANCELLED)
            elif job.charged >= job.new.max_attempts:
                self._leave(job, Outcome.FAILED)
            else:
                self._put_back(job, "queued", 0.0)

    def claim(self, consumer: ConsumerId, offers: Mapping[str, Offer]) -> Claimed:
        """Take jobs for the places."""
        now = self.clock.monotonic()
        promoted = self._promote(now)
        leases = [
            self._give(job, consumer, now)
            for lane, offer in offers.items()
            for job in self._ready(lane)[: offer.free]
        ]
        later = [job.run_at for job in self.jobs.values() if job.state == "deferred"]
        due_s = 0.0 if promoted else min((at - now for at in later), default=None)
        return Claimed(tuple(leases), due_s)

    def standing(self, leases: Sequence[Lease]) -> list[Standing]:
        """Say how leases stand; the missing ones are lost."""
        held = [self._held(lease) for lease in leases]
        return [
            Standing(job.id, job.token, job.is_cancelled, job.is_to_be_released)
            for job in held
            if job is not None and job.token is not None
        ]

    def renew(self, leases: Sequence[Lease]) -> None:
        """Give the leases their full length again."""
        for job in map(self._held, leases):
            if job is not None:
                job.lease_until = self.clock.monotonic() + self.times.lease_for.total_seconds()

    def settle(self, attempted: Attempted) -> Outcome | None:
        """End an attempt whose lease stands."""
        job = self._held(attempted.lease)
        if job is None:
            return None
        outcome, after = _said(attempted)
        if after is not None and job.is_cancelled:
            outcome, after = Outcome.CANCELLED, None
        is_spent = job.charged >= job.new.max_attempts and outcome is not Outcome.RELEASED
        if after is not None and is_spent:
            outcome = Outcome.FAILED if outcome is Outcome.RETRIED else outcome
            after = None
        self.attempts.append((job.id, job.attempt, outcome))
        if after is None:
            self._leave(job, outcome)
            return outcome
        if outcome is Outcome.RELEASED:
            job.charged -= 1
        self._put_back(job, "queued" if outcome is Outcome.RELEASED else "deferred", after)
        return outcome

    def _place(self, new: NewJob) -> JobId:
        self.last_id += 1
        job_id, now = JobId(self.last_id), self.clock.monotonic()
        state = "deferred" if new.delay > timedelta(0) else "queued"
        self.jobs[job_id] = Job(job_id, new, state, now + new.delay.total_seconds())
        return job_id

    def _promote(self, now: float) -> int:
        due = [job for job in self.jobs.values() if job.state == "deferred" and job.run_at <= now]
        for job in due:
            job.state = "promoted"  # what is promoted cannot be claimed by the same statement
        return len(due)

    def _ready(self, lane: str) -> list[Job]:
        taken_over = [
            job
            for job in self._expired()
            if job.new.lane == lane and job.charged < job.new.max_attempts and not job.is_cancelled
        ]
        for job in taken_over:
            self.attempts.append((job.id, job.attempt, Outcome.LOST))
        queued = [
            job for job in self.jobs.values() if job.state == "queued" and job.new.lane == lane
        ]
        for job in self.jobs.values():
            if job.state == "promoted" and job.new.lane == lane:
                job.state = "queued"
        return taken_over + sorted(queued, key=lambda job: (-job.new.priority, job.id))

    def _give(self, job: Job, consumer: ConsumerId, now: float) -> Lease:
        self.last_token += 1
        job.state, job.holder = "running", consumer
        job.token = LeaseToken(UUID(int=self.last_token))
        job.attempt += 1
        job.charged += 1
        job.lease_until = now + self.times.lease_for.total_seconds()
        job.is_to_be_released = False
        new = job.new
        return Lease(
            job_id=job.id,
            token=job.token,
            kind=new.kind,
            lane=new.lane,
            payload=new.payload,
            project_id=new.project_id,
            build_id=new.build_id,
            generation=new.generation,
            attempt=job.attempt,
            charged=job.charged,
            max_attempts=new.max_attempts,
            priority=new.priority,
        )

    def _held(self, lease: Lease) -> Job | None:
        job = self.jobs.get(lease.job_id)
        return job if job is not None and job.token == lease.token else None

    def _expired(self) -> list[Job]:
        now = self.clock.monotonic()
        return [j for j in self.jobs.values() if j.state == "running" and j.lease_until <= now]

    def _put_back(self, job: Job, state: str, after_s: float) -> None:
        job.state, job.token, job.holder = state, None, None
        job.run_at = self.clock.monotonic() + after_s

    def _leave(self, job: Job, outcome: Outcome) -> None:
        del self.jobs[job.id]
        assert job.id not in self.done, "a job leaves once"
        self.done[job.id] = outcome


@dataclass(slots=True, eq=False)
class MemoryHints:
    """A connection that carries hints between the grounds of one queue."""

    queue: MemoryQueue

    async def add_listener(self, channel: str, callback: Any) -> None:
        self.queue.listeners.append((self, callback))

    async def execute(self, query: str, *args: Any) -> str:
        if self.queue.is_away:
            raise ConnectionResetError
        for words in args:
            for word in words:
                for connection, callback in self.queue.listeners:
                    sender = 0 if connection is self else -1
                    callback(connection, sender, "", word)
        return ""

    def get_server_pid(self) -> int:
        return 0

    def terminate(self) -> None:
        self.queue.listeners = [each for each in self.queue.listeners if each[0] is not self]


@dataclass(slots=True)
class MemoryGround:
    """One consumer's way to the queue in memory."""

    queue: MemoryQueue
    consumer_id: ConsumerId
    announce: Announce = keep_quiet

    @property
    def expiry(self) -> RunsForever:
        return _Expiry(self.queue)

    def tell(self, announce: Announce) -> None:
        self.announce = announce

    def transaction(self) -> AbstractAsyncContextManager[Tx]:
        raise NotImplementedError("handlers of these tests record nothing")

    async def claim(self, offers: Mapping[str, Offer]) -> Claimed:
        self._answer()
        return self.queue.claim(self.consumer_id, offers)

    async def ask(self, due: Sequence[Lease], others: Sequence[Lease]) -> Sequence[Standing]:
        self._answer()
        self.queue.renew(due)
        return self.queue.standing([*due, *others])

    def settle(self, attempted: Attempted, told: Told) -> None:
        self._answer()
        outcome = self.queue.settle(attempted)
        if outcome is Outcome.RELEASED:
            self.announce(frozenset({"work"}))
        asyncio.get_running_loop().call_soon(told, outcome)

    async def end_overdue(self) -> int:
        return 0

    async def let_in_parked(self) -> int:
        return 0

    async def hint_connection(self) -> HintConnection:
        self._answer()
        return MemoryHints(self.queue)

    async def close(self) -> None: ...

    def _answer(self) -> None:
        if self.queue.is_away:
            raise ConnectionResetError


@dataclass(frozen=True, slots=True)
class _Expiry:
    queue: MemoryQueue

    async def run_forever(self) -> None:
        while True:
            self.queue.expire()
            await self.queue.clock.sleep(EXPIRY_EVERY_S)


def _said(attempted: Attempted) -> tuple[Outcome, float | None]:
    match attempted.ending:
        case Completed():
            return Outcome.COMPLETED, None
        case Retried(after=after):
            return Outcome.RETRIED, after.total_seconds()
        case Requeued():
            return Outcome.RELEASED, 0.0
        case Failed(outcome=outcome):
            return outcome, None
        case Crashed(after=after):
            return Outcome.CRASHED, after.total_seconds()
