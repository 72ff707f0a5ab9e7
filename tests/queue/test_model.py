"""The queue against a model of it: whatever is done in whatever order, both agree.

A stale lease is used as freely as a current one, so that every refusal is exercised too.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, ConsumerId, JobId, LeaseToken, ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import (
    Claimed,
    Completed,
    Ending,
    Lease,
    LeaseLostError,
    NewJob,
    Priority,
)
from storyshelf.queue.slots import Offer
from storyshelf.queue.store import dead
from tests.queue.builders import ANN, LEASE_FOR, rows, run
from tests.queue.queue_draws import (
    AT_ONCE,
    LANES,
    consumers,
    endings,
    handled,
    new_jobs,
    offers,
)
from tests.queue.queue_model import WAITING, Asked, ModelJob, QueueModel

T = TypeVar("T")
NOBODYS = LeaseToken(UUID(int=7))
EMPTIED = "TRUNCATE jobs, jobs_done, job_attempts, lane_tags, running_caps"
LATER = """
UPDATE jobs SET
    run_at = run_at - interval '2 hours', lease_expires_at = lease_expires_at - interval '2 hours'
"""
WHOLE: Mapping[str, Offer] = {lane: Offer(100, 100) for lane in LANES}


class QueueMachine(RuleBasedStateMachine):
    """Does to the queue and to the model the same, and compares."""

    leases = Bundle("leases")

    def __init__(self, runner: asyncio.Runner, db: Database) -> None:
        super().__init__()
        self._runner = runner
        self.db = db
        self.model = QueueModel()
        self.given: list[Lease] = []
        self.do(run(db, EMPTIED))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """Call a function of the store in a transaction of its own."""
        return self.do(self._call(function, *args, **named))

    async def _call(self, function: Any, *args: Any, **named: Any) -> Any:
        async with self.db.transaction() as tx:
            return await function(tx, *args, **named)

    def holder(self, lease: Lease) -> ModelJob | None:
        """The lease's job, if it is the lease's still."""
        job = self.model.jobs[lease.job_id]
        return job if job.token == lease.token else None

    @initialize(jobs=st.lists(new_jobs, min_size=4, max_size=8), most=st.sampled_from([None, 1, 2]))
    def begin(self, jobs: list[NewJob], most: int | None) -> None:
        self.cap(ProjectId(1), most)
        self.enqueue(jobs)

    @rule(jobs=st.lists(new_jobs, min_size=1, max_size=4))
    def enqueue(self, jobs: list[NewJob]) -> None:
        ids = self.call(store.enqueue, jobs)
        hot = {row["id"]: row for row in self.call(rows, "jobs")}
        for job_id, new in zip(ids, jobs, strict=True):
            assert (job_id is None) == self.model.is_taken(new.dedupe_key)
            if job_id is not None:
                self.model.add(hot[job_id], new)

    @rule(
        target=leases,
        places=st.dictionaries(st.sampled_from(LANES), offers),
        by=consumers,
        kinds=handled,
    )
    def claim(
        self, places: Mapping[str, Offer], by: ConsumerId, kinds: tuple[str, ...] | None
    ) -> Any:
        return multiple(*self.claim_all(places, by, kinds))

    def claim_all(
        self, places: Mapping[str, Offer], by: ConsumerId, kinds: tuple[str, ...] | None = None
    ) -> Sequence[Lease]:
        asked = [Asked(lane, offer, kinds) for lane, offer in places.items()]
        may = [(each, self.model.to_take_over(each)) for each in asked]
        overdue = any(job.is_overdue for job in self.model.jobs.values())
        claimed = self.call(store.claim, by, places, LEASE_FOR, kinds)
        for each, (expired, number) in may:
            taken = {lease.job_id for lease in claimed.leases if lease.lane == each.lane}
            assert len(taken & expired) == number
            assert taken - expired == set(self.model.next_of(each, number))
        assert claimed.overdue == overdue
        assert claimed.parked == bool(self.model.in_state("parked"))
        assert claimed.taken_over == sum(number for _, (_, number) in may)
        return self._given(claimed, by)

    @rule(target=leases, offer=offers, by=consumers, data=st.data())
    def claim_from_floors(self, offer: Offer, by: ConsumerId, data: st.DataObject) -> Any:
        """What stands below the floors is not brought, but by the next claim of everything."""
        lane = data.draw(st.sampled_from(LANES))
        tags = {job.tag for job in self.model.in_state("queued") if job.new.lane == lane}
        each = st.sampled_from(sorted(tags) or [1])
        floors = st.dictionaries(st.sampled_from(Priority), each, min_size=1)
        bounded = replace(offer, floors=data.draw(floors))
        expected = set(self.model.next_of(Asked(lane, bounded), 0))
        claimed = self.call(store.claim, by, {lane: bounded}, LEASE_FOR)
        assert {lease.job_id for lease in claimed.leases} == expected
        return multiple(*self._given(claimed, by))

    def _given(self, claimed: Claimed, by: ConsumerId) -> Sequence[Lease]:
        promoted = self.model.promote_due()
        is_any_later = bool(self.model.in_state("deferred"))
        assert (claimed.next_due_s is None) == (not promoted and not is_any_later)
        assert (claimed.next_due_s == 0.0) == bool(promoted)
        for lease in claimed.leases:
            self.model.jobs[lease.job_id].give(lease, by)
        self.given.extend(claimed.leases)
        return claimed.leases

    @rule(batch=st.lists(st.tuples(leases, endings), min_size=1, max_size=5))
    def settle(self, batch: list[tuple[Lease, Ending]]) -> None:
        ends = {(lease.job_id, lease.token): (lease, ending) for lease, ending in batch}
        expected = [
            (lease.job_id, job.settle(ending))
            for lease, ending in sorted(ends.values(), key=lambda end: end[0].job_id)
            if (job := self.holder(lease)) is not None
        ]
        settled = self.call(store.settle, list(ends.values()))
        assert [(each.job.job_id, each.outcome) for each in settled] == expected
        for each in settled:
            assert each.goes_back == self.model.jobs[each.job.job_id].is_live

    @rule(batch=st.lists(leases, min_size=1, max_size=4))
    def complete(self, batch: list[Lease]) -> None:
        unique = {(lease.job_id, lease.token): lease for lease in batch}
        self.settle([(lease, Completed()) for lease in unique.values()])

    @rule(lease=leases, ending=endings)
    def settle_with_a_foreign_token(self, lease: Lease, ending: Ending) -> None:
        stolen = replace(lease, token=NOBODYS)
        assert self.call(store.settle, [(stolen, ending)]) == ()
        assert self.call(store.renew, [stolen], LEASE_FOR) == ()
        assert self.call(store.settled_before, [stolen]) == {}

    @rule(lease=leases)
    def record(self, lease: Lease) -> None:
        job = self.holder(lease)
        if job is None:
            with pytest.raises(LeaseLostError):
                self.call(store.renew_for_write, lease, LEASE_FOR)
            return
        self.call(store.renew_for_write, lease, LEASE_FOR)
        job.charged -= 0 if job.has_recorded else 1
        job.has_recorded, job.has_expired = True, False

    @rule(batch=st.lists(leases, min_size=1, max_size=4))
    def renew(self, batch: list[Lease]) -> None:
        unique = list({(lease.job_id, lease.token): lease for lease in batch}.values())
        standing = self.call(store.renew, unique, LEASE_FOR)
        assert sorted(map(_said, standing)) == self._standing(unique)
        for each in standing:
            self.model.jobs[each.job_id].has_expired = False

    @rule(lease=leases)
    def run_out(self, lease: Lease) -> None:
        past = "UPDATE jobs SET lease_expires_at = now() - interval '1 second'"
        self.do(run(self.db, f"{past} WHERE id = {lease.job_id} AND state = 'running'"))
        job = self.model.jobs[lease.job_id]
        job.has_expired = job.state == "running"

    @rule()
    def let_hours_pass(self) -> None:
        self.do(run(self.db, LATER))
        for job in self.model.jobs.values():
            job.is_due = True
            job.has_expired = job.state == "running"

    @rule(consumer=consumers)
    def crash(self, consumer: ConsumerId) -> None:
        """A consumer dies, and what it held is set free by whoever finds that out."""
        freed = self.call(dead.free_leases, consumer)
        held = [job for job in self.model.in_state("running") if job.consumer == consumer]
        assert list(freed) == sorted(job.job_id for job in held)
        for job in held:
            job.has_expired = True

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.model.jobs) or [JobId(1)])))
        self._cancelled(self.call(store.cancel_jobs, ids), [*map(self.model.jobs.get, ids)])

    @rule(older_than=st.sampled_from([None, 1]))
    def cancel_build(self, older_than: int | None) -> None:
        ended = self.call(store.cancel_build_jobs, BuildId(7), older_than_generation=older_than)
        of_build = [job for job in self.model.jobs.values() if job.new.build_id is not None]
        newest = 1 if older_than is None else 0
        self._cancelled(ended, [job for job in of_build if job.new.generation <= newest])

    def _cancelled(self, ended: Sequence[Any], asked: Sequence[ModelJob | None]) -> None:
        live = {job.job_id: job for job in asked if job is not None and job.is_live}
        expected = sorted(job_id for job_id, job in live.items() if job.cancel())
        assert [job.job_id for job in ended] == expected

    @rule(data=st.data())
    def ask_back(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.model.jobs) or [JobId(1)])))
        running = {job.job_id: job for job in self.model.in_state("running") if job.job_id in ids}
        assert list(self.call(store.request_release, ids)) == sorted(running)
        for job in running.values():
            job.is_asked_back = True

    @rule()
    def expire(self) -> None:
        self.call(store.requeue_expired, limit=100)
        ids = self.call(store.overdue_jobs, limit=100)
        ended = self.call(store.end_overdue, ids)
        assert len(ended) == len(ids)
        for job in self.model.jobs.values():
            if job.may_be_taken_over:
                job.put_back("queued")
            elif job.has_run_out:
                job.put_back("cancelled" if job.is_cancelled else "failed")

    @rule(project=st.sampled_from([ProjectId(1), ProjectId(2)]), most=st.sampled_from([None, 1, 2]))
    def cap(self, project: ProjectId, most: int | None) -> None:
        self.call(store.set_running_cap, project, most)
        self.model.caps.pop(project, None)
        if most is not None:
            self.model.caps[project] = most

    @rule()
    def let_in(self) -> None:
        """Let in what has a place, and then nothing more."""
        assert self.call(store.let_in_parked) == self.model.let_in()
        assert self.call(store.let_in_parked) == self.model.let_in() == 0

    @rule(each=st.integers(1, 2))
    def promote(self, each: int) -> None:
        expected = self.model.old_heads(each)
        assert set(self.call(store.promote_old, AT_ONCE, limit=each)) == expected
        hot = {row["id"]: row for row in self.call(rows, "jobs")}
        for job_id in expected:
            job = self.model.jobs[job_id]
            job.priority, job.tag = Priority.DEFAULT, hot[job_id]["fair_tag"]

    @invariant()
    def the_queue_agrees(self) -> None:
        self.do(self._agrees())

    async def _agrees(self) -> None:
        async with self.db.transaction() as tx:
            hot, cold, attempts = [
                await rows(tx, name) for name in ("jobs", "jobs_done", "job_attempts")
            ]
            standing = await store.check(tx, self.given)
        self._every_job_is_in_one_place(hot, cold)
        for row in hot:
            is_running = row["state"] == "running"
            assert is_running == (row["lease_token"] is not None)
            assert is_running == (row["lease_expires_at"] is not None)
        self._every_ended_attempt_has_one_row(attempts)
        assert sorted(map(_said, standing)) == self._standing(self.given)
        assert max(Counter(each.job_id for each in standing).values(), default=1) == 1

    def _every_job_is_in_one_place(
        self, hot: Sequence[Mapping[str, Any]], cold: Sequence[Mapping[str, Any]]
    ) -> None:
        found = [(*_standing_of(row), row["lease_token"]) for row in hot]
        ended = [(*_standing_of(row), None) for row in cold]
        jobs = self.model.jobs.values()
        assert sorted([*found, *ended], key=lambda each: each[0]) == [
            (job.job_id, job.state, job.priority, job.attempt, job.charged, job.token)
            for job in sorted(jobs, key=lambda job: job.job_id)
        ]
        assert len(hot) == sum(job.is_live for job in jobs)
        assert all(job.charged <= job.new.max_attempts for job in jobs)

    def _every_ended_attempt_has_one_row(self, found: Sequence[Mapping[str, Any]]) -> None:
        assert sorted((row["job_id"], row["attempt"]) for row in found) == [
            (job_id, attempt)
            for job_id, job in sorted(self.model.jobs.items())
            for attempt in range(1, job.attempt + (0 if job.state == "running" else 1))
        ]

    def _standing(self, leases: Sequence[Lease]) -> list[tuple[JobId, bool, bool]]:
        held = [job for lease in leases if (job := self.holder(lease)) is not None]
        return sorted((job.job_id, job.is_cancelled, job.is_asked_back) for job in held)

    def teardown(self) -> None:
        """Whatever was done, what is left can be brought to its end, and then all is told once."""
        for project in (ProjectId(1), ProjectId(2)):
            self.cap(project, None)
        while any(job.is_live for job in self.model.jobs.values()):
            self.let_hours_pass()
            self.let_in()
            self.expire()
            self.claim_all(WHOLE, ANN)
            self.complete(self.given)
            self.the_queue_agrees()
        assert not self.model.in_state(*WAITING, "running")


def _said(standing: store.Standing) -> tuple[JobId, bool, bool]:
    return standing.job_id, standing.cancel_requested, standing.release_requested


def _standing_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("id", "state", "priority", "attempt", "charged"))


def walk(url: str, *, examples: int, steps: int) -> None:
    with asyncio.Runner() as runner:
        db = Database(url)

        class OnThisDatabase(QueueMachine):
            def __init__(self) -> None:
                super().__init__(runner, db)

        try:
            run_state_machine_as_test(
                OnThisDatabase,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    deadline=None,
                    derandomize=True,
                    suppress_health_check=list(HealthCheck),
                    database=None,
                    phases=[Phase.generate],  # shortening a failure outlasts the timeout
                ),
            )
        finally:
            runner.run(db.close())


@pytest.mark.timeout(120)
def test_the_queue_does_what_its_model_says(database_url: str) -> None:
    walk(database_url, examples=40, steps=30)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_it_does_so_for_long(database_url: str) -> None:
    walk(database_url, examples=500, steps=50)
