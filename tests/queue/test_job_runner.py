import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.expiry import ExpiryTimer
from storyshelf.queue.ground import DatabaseGround
from storyshelf.queue.job import (
    Failed,
    Lease,
    MalformedPayloadError,
    Outcome,
    Payload,
    Requeued,
)
from storyshelf.queue.job_kind import Handle, JobKind, JobKinds, Work
from storyshelf.queue.job_runner import JobRunner
from storyshelf.queue.lease_keeper import Abandoned, LeaseKeeper
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Settler
from storyshelf.queue.store import Standing
from tests.fakes import FakeClock
from tests.queue.attempts import ASlot, ran
from tests.queue.builders import ANN, BOB, a_lease, claimed, let_leases_run_out, table
from tests.queue.kinds import Told, a_kind

TIMES = LeaseTimes()


@dataclass(slots=True)
class Bench:
    """A runner for one kind, its keeper, and what the kind was told."""

    db: Database
    clock: FakeClock = field(default_factory=FakeClock)
    told: Told = field(default_factory=Told)
    places: list[str] = field(default_factory=list)

    def runner(self, *kinds: JobKind) -> JobRunner:
        known = JobKinds(kinds)
        settler = Settler(
            self.db, known, self.clock, draw=lambda: 0.0, failpoint=self.places.append
        )
        ground = DatabaseGround(
            self.db,
            known,
            consumer_id=ANN,
            times=TIMES,
            settler=settler,
            expiry=ExpiryTimer(self.db, known, self.clock, lambda: 0.0),
        )
        return JobRunner(
            db=self.db,
            kinds=known,
            keeper=LeaseKeeper(ground.ask, self.clock, TIMES),
            settler=settler,
            clock=self.clock,
            draw=lambda: 0.0,
            times=TIMES,
            failpoint=self.places.append,
        )

    async def run(self, lease: Lease, handle: Handle | None) -> None:
        await ran(self.runner(a_kind(self.told, handle)), lease)


@pytest.fixture
async def bench(db: Database) -> Bench:
    return Bench(db)


class Stubborn:
    """A handler that waits to be stopped, and says that it was."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.was_stopped = False

    async def __call__(self, work: Work, parsed: Any) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_stopped = True


class SlowToStop:
    """A handler that ends, once it is cancelled, when the test lets it."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.let_go = asyncio.Event()

    async def __call__(self, work: Work, parsed: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.stopping.set()
            await self.let_go.wait()


class LateLook:
    """A look at leases that finds all of them lost, when the test has it answered."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()

    async def __call__(self, due: Sequence[Lease], others: Sequence[Lease]) -> Sequence[Standing]:
        self.asked.set()
        await self.answer.wait()
        return []


async def test_what_the_handler_returns_is_what_apply_writes(bench: Bench) -> None:
    lease = await a_lease(bench.db)
    await bench.run(lease, returning("ten pictures"))
    assert bench.told.applied == [(lease.job_id, "ten pictures")]
    assert [row["state"] for row in await table(bench.db, "jobs_done")] == ["done"]


async def test_a_handler_that_fails_is_tried_again_later(bench: Bench) -> None:
    await bench.run(await a_lease(bench.db), raising(TimeoutError("no first paint")))
    (row,) = await table(bench.db, "jobs")
    assert (row["state"], row["last_error"]) == ("deferred", "no first paint")


async def test_the_last_allowed_failure_ends_the_job_and_is_told(bench: Bench) -> None:
    lease = await a_lease(bench.db, max_attempts=1)
    await bench.run(lease, raising(TimeoutError("no first paint")))
    assert bench.told.endings == [(lease.job_id, Outcome.FAILED, "no first paint")]


async def test_an_attempt_that_recorded_results_does_not_count_when_it_fails(
    bench: Bench,
) -> None:
    async def half_way(work: Work, parsed: Any) -> None:
        await work.record(nothing)
        raise TimeoutError

    await bench.run(await a_lease(bench.db, max_attempts=1), half_way)
    (row,) = await table(bench.db, "jobs")
    assert (row["state"], row["charged"]) == ("deferred", 0)


@pytest.mark.parametrize(
    ("ending", "state"),
    [(Requeued("another round"), "queued"), (Failed("crashed", Outcome.CRASHED), "failed")],
)
async def test_a_handler_may_name_the_ending_itself(
    bench: Bench, ending: object, state: str
) -> None:
    await bench.run(await a_lease(bench.db), returning(ending))
    rows = [*await table(bench.db, "jobs"), *await table(bench.db, "jobs_done")]
    assert [row["state"] for row in rows] == [state]


async def test_a_malformed_payload_is_dropped_at_once(bench: Bench) -> None:
    def refuse(payload: Payload) -> None:
        raise MalformedPayloadError("capture", "shard is missing")

    lease = await a_lease(bench.db)
    kind = replace(a_kind(bench.told), parse=refuse)
    await ran(bench.runner(kind), lease)
    ((job_id, outcome, error),) = bench.told.endings
    assert (job_id, outcome) == (lease.job_id, Outcome.DROPPED)
    assert "shard is missing" in error


async def test_a_job_without_a_handler_here_is_failed_with_the_kinds_name(bench: Bench) -> None:
    lease = await a_lease(bench.db)
    await bench.run(lease, None)
    ((_, outcome, error),) = bench.told.endings
    assert outcome is Outcome.UNHANDLED
    assert "capture" in error


async def test_a_cancelled_job_is_stopped_and_ends_cancelled(bench: Bench) -> None:
    handler = Stubborn()
    lease = await a_lease(bench.db)
    stopped: list[object] = []

    async def remember(parsed: Any) -> None:
        stopped.append(parsed)

    runner = bench.runner(replace(a_kind(bench.told, handler), cancel=remember))
    await run_and_abandon(runner, lease, handler, Abandoned.CANCELLED)
    assert (stopped, handler.was_stopped) == ([lease.payload], True)
    assert [outcome for _, outcome, _ in bench.told.endings] == [Outcome.CANCELLED]


async def test_lost_work_is_stopped_and_settles_nothing(bench: Bench) -> None:
    handler = Stubborn()
    lease = await a_lease(bench.db)
    runner = bench.runner(a_kind(bench.told, handler))
    await run_and_abandon(runner, lease, handler, Abandoned.LOST)
    assert handler.was_stopped
    assert bench.told == Told()
    assert "before_settle" not in bench.places


async def test_released_work_goes_back_uncharged(bench: Bench) -> None:
    handler = Stubborn()
    lease = await a_lease(bench.db)
    runner = bench.runner(a_kind(bench.told, handler))
    await run_and_abandon(runner, lease, handler, Abandoned.RELEASED)
    (row,) = await table(bench.db, "jobs")
    assert (row["state"], row["charged"], row["attempt"]) == ("queued", 0, 1)


async def test_a_cancel_that_hangs_does_not_keep_the_slot(bench: Bench) -> None:
    async def hang(parsed: Any) -> None:
        await asyncio.Event().wait()

    handler = Stubborn()
    lease = await a_lease(bench.db)
    runner = bench.runner(replace(a_kind(bench.told, handler), cancel=hang))
    running = asyncio.create_task(ran(runner, lease))
    await handler.started.wait()
    runner.keeper.abandon_all(Abandoned.LOST)
    await bench.clock.advance(4)
    assert running.done()
    assert handler.was_stopped


async def test_a_cancel_that_is_cancelled_itself_does_not_keep_the_handler_or_the_slot(
    bench: Bench,
) -> None:
    async def give_up(parsed: Any) -> None:
        raise asyncio.CancelledError

    handler = Stubborn()
    lease = await a_lease(bench.db)
    runner = bench.runner(replace(a_kind(bench.told, handler), cancel=give_up))
    running = asyncio.create_task(ran(runner, lease))
    await handler.started.wait()
    runner.keeper.abandon_all(Abandoned.LOST)
    await bench.clock.settle()
    assert (running.done(), handler.was_stopped) == (True, True)
    running.cancel()


async def test_a_look_that_is_answered_late_starts_nothing_for_an_attempt_that_was_dropped(
    bench: Bench,
) -> None:
    cancelled: list[object] = []

    async def remember(parsed: Any) -> None:
        cancelled.append(parsed)

    handler, look = SlowToStop(), LateLook()
    kind = a_kind(bench.told).handled(handler, remember)
    runner = replace(bench.runner(kind), keeper=LeaseKeeper(look, bench.clock, TIMES))
    runner.start(await a_lease(bench.db), 0.0, ASlot())
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(runner.keeper.run_forever())
        runner.keeper.look_now()
        await look.asked.wait()
        group.create_task(runner.drop_all())
        await handler.stopping.wait()
        look.answer.set()
        await bench.clock.settle()
        handler.let_go.set()
        keeping.cancel()
    assert cancelled == []


async def test_a_handler_that_swallows_its_cancellation_is_left_behind_in_time(
    bench: Bench,
) -> None:
    let_go = asyncio.Event()

    async def deaf(work: Work, parsed: Any) -> None:
        started.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    started = asyncio.Event()
    runner = bench.runner(a_kind(bench.told, deaf))
    running = asyncio.create_task(ran(runner, await a_lease(bench.db)))
    await started.wait()
    runner.keeper.abandon_all(Abandoned.LOST)
    await bench.clock.advance(TIMES.margin_s)
    assert running.done()
    let_go.set()
    await bench.clock.settle()


async def test_a_handler_and_a_cancel_that_both_hang_are_left_behind_before_the_lease_is_given_away(
    bench: Bench,
) -> None:
    let_go, started = asyncio.Event(), asyncio.Event()

    async def deaf(work: Work, parsed: Any) -> None:
        started.set()
        while not let_go.is_set():
            with suppress(asyncio.CancelledError):
                await let_go.wait()

    async def hangs(parsed: Any) -> None:
        await let_go.wait()

    runner = bench.runner(a_kind(bench.told).handled(deaf, hangs))
    running = asyncio.create_task(ran(runner, await a_lease(bench.db)))
    await started.wait()
    runner.keeper.abandon_all(Abandoned.LOST)
    await bench.clock.advance(TIMES.margin_s)
    assert running.done()
    let_go.set()
    await bench.clock.settle()


async def test_results_recorded_under_a_lost_lease_are_not_written(bench: Bench) -> None:
    async def too_late(work: Work, parsed: Any) -> None:
        await let_leases_run_out(bench.db)
        await claimed(bench.db, BOB)
        await work.record(leave_a_mark)

    async def leave_a_mark(tx: Tx) -> None:
        await tx.execute(text("UPDATE jobs SET last_error = 'written late'"))

    await bench.run(await a_lease(bench.db), too_late)
    (row,) = await table(bench.db, "jobs")
    assert (row["last_error"], row["consumer_id"]) == (None, BOB)
    assert await table(bench.db, "jobs_done") == []


async def test_recording_results_renews_the_lease_and_its_trust(bench: Bench) -> None:
    async def slow(work: Work, parsed: Any) -> None:
        await bench.clock.advance(30)
        await work.record(nothing)
        trusted.extend(hold.trusted_until for hold in runner.keeper._holds)

    trusted: list[float] = []
    runner = bench.runner(a_kind(bench.told, slow))
    await ran(runner, await a_lease(bench.db))
    assert trusted == [TIMES.trusted_until(30)]


async def test_the_places_a_process_can_die_at_come_in_order(bench: Bench) -> None:
    async def record_once(work: Work, parsed: Any) -> None:
        await work.record(nothing)

    await bench.run(await a_lease(bench.db), record_once)
    assert bench.places == ["after_progress", "before_settle", "after_settle"]


async def test_a_runner_holds_nothing_when_it_is_done(bench: Bench) -> None:
    runner = bench.runner(a_kind(bench.told))
    await ran(runner, await a_lease(bench.db))
    assert runner.keeper.held == ()


async def run_and_abandon(
    runner: JobRunner, lease: Lease, handler: Stubborn, why: Abandoned
) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(ran(runner, lease))
        await handler.started.wait()
        if why is Abandoned.CANCELLED:
            async with runner.db.transaction() as tx:
                await store.cancel_jobs(tx, [lease.job_id])
        runner.keeper.abandon_all(why)


def returning(result: object) -> Handle:
    async def handle(work: Work, parsed: Any) -> object:
        return result

    return handle


def raising(error: Exception) -> Handle:
    async def handle(work: Work, parsed: Any) -> None:
        raise error

    return handle


async def nothing(tx: Tx) -> None:
    pass
