"""The queue against a model of it: whatever is done in whatever order, both agree.

A stale lease is used as freely as a current one, so that every refusal is exercised too.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from storyshelf.db.engine import Database
from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue import store
from storyshelf.queue.job import (
    Completed,
    Ending,
    Failed,
    Lease,
    LeaseLostError,
    Outcome,
    Requeued,
    Retried,
)
from tests.queue.builders import LEASE_FOR, a_job, claimed, enqueued, run, table

T = TypeVar("T")
ENDINGS: list[Ending] = [
    Completed(),
    Retried(timedelta(0), "again"),
    Requeued("released"),
    Failed("no"),
]
ENDED = {Outcome.COMPLETED: "done", Outcome.FAILED: "failed", Outcome.CANCELLED: "cancelled"}


@dataclass(slots=True)
class Model:
    """What the queue should hold of one job."""

    max_attempts: int
    state: str = "queued"
    attempt: int = 0
    charged: int = 0
    token: LeaseToken | None = None
    has_recorded: bool = False
    has_expired: bool = False
    is_cancelled: bool = False

    def give(self, lease: Lease) -> None:
        self.state, self.token = "running", lease.token
        self.attempt += 1
        self.charged += 1
        self.has_recorded = self.has_expired = False

    def put_back(self, state: str) -> None:
        self.state, self.token = state, None

    def end(self, outcome: Outcome) -> None:
        self.put_back(ENDED[outcome])

    @property
    def may_be_taken_over(self) -> bool:
        return self.has_run_out and self.charged < self.max_attempts and not self.is_cancelled

    @property
    def has_run_out(self) -> bool:
        return self.state == "running" and self.has_expired

    def outcome_of(self, ending: Ending) -> Outcome:
        match ending:
            case Completed():
                return Outcome.COMPLETED
            case Failed():
                return Outcome.FAILED
            case Retried() | Requeued() if self.is_cancelled:
                return Outcome.CANCELLED
            case Retried():
                return Outcome.FAILED if self.charged >= self.max_attempts else Outcome.RETRIED
            case Requeued():
                return Outcome.RELEASED


class QueueMachine(RuleBasedStateMachine):
    """Does to the queue and to the model the same, and compares."""

    leases = Bundle("leases")

    def __init__(self, runner: asyncio.Runner, db: Database) -> None:
        super().__init__()
        self._runner = runner
        self.db = db
        self.model: dict[JobId, Model] = {}
        self.do(run(db, "TRUNCATE jobs, jobs_done, job_attempts, lane_tags"))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    @rule(limits=st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def enqueue(self, limits: list[int]) -> None:
        jobs = [a_job(max_attempts=limit) for limit in limits]
        for job_id, limit in zip(self.do(enqueued(self.db, *jobs)), limits, strict=True):
            self.model[job_id] = Model(limit)

    @rule(target=leases, places=st.integers(1, 4))
    def claim(self, places: int) -> Any:
        expired = {job_id for job_id, job in self.model.items() if job.may_be_taken_over}
        ready = {job_id for job_id, job in self.model.items() if job.state == "queued"}
        leases = self.do(claimed(self.db, free={"capture@x": places}))
        taken = {lease.job_id for lease in leases}
        assert taken <= expired | ready
        assert len(taken & expired) == min(places, len(expired))
        assert len(taken) == min(places, len(expired | ready))
        for lease in leases:
            self.model[lease.job_id].give(lease)
        for job in self.model.values():  # the claim made every due job ready
            if job.state == "deferred":
                job.state = "queued"
        return multiple(*leases)

    @rule(lease=leases, ending=st.sampled_from(ENDINGS))
    def settle(self, lease: Lease, ending: Ending) -> None:
        job = self.model[lease.job_id]
        settled = self.do(self._settle(lease, ending))
        if job.token != lease.token:
            assert settled == []
            return
        outcome = job.outcome_of(ending)
        assert settled == [outcome]
        if outcome is Outcome.RELEASED and not job.has_recorded:
            job.charged -= 1
        match outcome:
            case Outcome.RETRIED:
                job.put_back("deferred")
            case Outcome.RELEASED:
                job.put_back("queued")
            case _:
                job.end(outcome)

    @rule(lease=leases)
    def record(self, lease: Lease) -> None:
        job = self.model[lease.job_id]
        if job.token != lease.token:
            with pytest.raises(LeaseLostError):
                self.do(self._record(lease))
            return
        self.do(self._record(lease))
        job.charged -= 0 if job.has_recorded else 1
        job.has_recorded, job.has_expired = True, False

    @rule(lease=leases)
    def renew(self, lease: Lease) -> None:
        job = self.model[lease.job_id]
        standing = self.do(self._renew(lease))
        assert [each.cancel_requested for each in standing] == (
            [job.is_cancelled] if job.token == lease.token else []
        )
        if standing:
            job.has_expired = False

    @rule(lease=leases)
    def run_out(self, lease: Lease) -> None:
        self.do(
            run(
                self.db,
                "UPDATE jobs SET lease_expires_at = now() - interval '1 second'"
                f" WHERE id = {lease.job_id} AND state = 'running'",
            )
        )
        job = self.model[lease.job_id]
        job.has_expired = job.state == "running"

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        if not self.model:
            return
        job_id = data.draw(st.sampled_from(sorted(self.model)))
        job = self.model[job_id]
        ended = self.do(self._cancel(job_id))
        assert ended == ([job_id] if job.state in {"queued", "deferred"} else [])
        if ended:
            job.end(Outcome.CANCELLED)
        elif job.state == "running":
            job.is_cancelled = True

    @rule()
    def expire(self) -> None:
        self.do(self._expire())
        for job in self.model.values():
            if job.may_be_taken_over:
                job.put_back("queued")
            elif job.has_run_out:
                job.end(Outcome.CANCELLED if job.is_cancelled else Outcome.FAILED)

    @invariant()
    def the_queue_agrees(self) -> None:
        hot = {row["id"]: row for row in self.do(table(self.db, "jobs"))}
        cold = {row["id"]: row for row in self.do(table(self.db, "jobs_done"))}
        assert hot.keys().isdisjoint(cold)
        found = {
            job_id: (row["state"], row["attempt"], row["charged"], row.get("lease_token"))
            for job_id, row in hot.items()
        }
        ended = {
            job_id: (row["state"], row["attempt"], row["charged"], None)
            for job_id, row in cold.items()
        }
        assert {**found, **ended} == {
            job_id: (job.state, job.attempt, job.charged, job.token)
            for job_id, job in self.model.items()
        }
        assert all(job.charged <= job.max_attempts for job in self.model.values())

    @invariant()
    def every_ended_attempt_has_one_row(self) -> None:
        ended = [
            (job_id, attempt)
            for job_id, job in sorted(self.model.items())
            for attempt in range(1, job.attempt + (0 if job.state == "running" else 1))
        ]
        rows = self.do(table(self.db, "job_attempts"))
        assert sorted((row["job_id"], row["attempt"]) for row in rows) == ended

    async def _settle(self, lease: Lease, ending: Ending) -> list[Outcome]:
        async with self.db.transaction() as tx:
            return [each.outcome for each in await store.settle(tx, [(lease, ending)])]

    async def _record(self, lease: Lease) -> None:
        async with self.db.transaction() as tx:
            await store.renew_for_write(tx, lease, LEASE_FOR)

    async def _renew(self, lease: Lease) -> tuple[store.Standing, ...]:
        async with self.db.transaction() as tx:
            return await store.renew(tx, [lease], LEASE_FOR)

    async def _cancel(self, job_id: JobId) -> list[JobId]:
        async with self.db.transaction() as tx:
            return [job.job_id for job in await store.cancel_jobs(tx, [job_id])]

    async def _expire(self) -> None:
        async with self.db.transaction() as tx:
            await store.requeue_expired(tx, limit=100)
            await store.end_overdue(tx, await store.overdue_jobs(tx, limit=100))


@pytest.mark.timeout(120)
def test_the_queue_does_what_its_model_says(database_url: str) -> None:
    with asyncio.Runner() as runner:
        db = Database(database_url)

        class OnThisDatabase(QueueMachine):
            def __init__(self) -> None:
                super().__init__(runner, db)

        run_state_machine_as_test(
            OnThisDatabase,
            settings=settings(
                max_examples=30,
                stateful_step_count=30,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                database=None,
            ),
        )
        runner.run(db.close())
