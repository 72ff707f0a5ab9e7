"""The whole life of a consumer on a clock that the test moves: nothing here waits for real time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.job import AttemptEnded, Crashed, NewJob, Outcome
from storyshelf.queue.job_kind import Handle, JobKinds, Work
from storyshelf.queue.tally import Tally
from tests.fakes import FakeClock
from tests.queue.builders import a_job
from tests.queue.kinds import Told, a_kind
from tests.queue.memory_ground import MemoryGround, MemoryQueue

ANN, BOB = ConsumerId("ann:1:a"), ConsumerId("bob:2:b")
LEASE_S = 60.0


class Handler:
    """Works until the test says how each attempt ends; remembers what was stopped."""

    def __init__(self) -> None:
        self.running: dict[JobId, Work] = {}
        self.stopped: list[JobId] = []
        self.gate = asyncio.Event()
        self.result: Any = None
        self.stops_slowly = False

    async def __call__(self, work: Work, parsed: Any) -> Any:
        job_id = work.lease.job_id
        self.running[job_id] = work
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.stopped.append(job_id)
            raise
        finally:
            del self.running[job_id]
        return self.result


@dataclass
class Stage:
    """A queue in memory, its clock, and the consumers that live on it."""

    clock: FakeClock = field(default_factory=FakeClock)
    ended: list[AttemptEnded] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(self.clock)
        self.handler = Handler()

    @property
    def outcomes(self) -> list[str]:
        return [each.outcome.value for each in self.ended]

    @asynccontextmanager
    async def consumer(
        self, who: ConsumerId = ANN, places: int = 2, handler: Handle | None = None
    ) -> AsyncIterator[ConsumerSide]:
        """A consumer that has booted; killed at the end of the block, unless it was stopped."""
        options = ConsumerOptions(
            consumer_id=who,
            places={"capture@x": places},
            clock=self.clock,
            draw=lambda: 0.0,
            observe=self.ended.append,
            tally=self.tally,
        )
        kinds = JobKinds([a_kind(Told(), handler or self.handler)])
        side = ConsumerSide(MemoryGround(self.queue, who), kinds, options)
        life = asyncio.create_task(side.run_forever())
        await self.clock.settle()
        try:
            yield side
        finally:
            life.cancel()
            await asyncio.wait({life})

    async def until(self, fact: Callable[[], bool], within_s: float) -> float:
        """Move time on in steps until the fact holds; return how long that took."""
        started = self.clock.monotonic()
        while not fact():
            assert self.clock.monotonic() - started <= within_s, "it took longer than promised"
            await self.clock.advance(0.25)
        return self.clock.monotonic() - started


@pytest.fixture
async def stage() -> Stage:
    return Stage()


def jobs(count: int, **changes: Any) -> list[NewJob]:
    return [a_job(**changes)] * count


async def test_boot_claims_at_once_what_waits_already(stage: Stage) -> None:
    stage.queue.enqueue(*jobs(3))
    async with stage.consumer():
        assert len(stage.handler.running) == 2
    assert stage.tally.jobs_claimed == 2


async def test_idle_costs_four_claims_a_minute(stage: Stage) -> None:
    async with stage.consumer():
        at_boot = stage.tally.claims
        await stage.clock.advance(120)
    assert stage.tally.claims - at_boot == 8


async def test_with_every_hint_lost_work_starts_within_one_poll(stage: Stage) -> None:
    async with stage.consumer():
        stage.queue.enqueue(*jobs(1))
        took_s = await stage.until(lambda: bool(stage.handler.running), within_s=15 * 1.2)
    assert took_s > 1
    assert (stage.tally.found_by_poll, stage.tally.found_by_hint) == (1, 0)


async def test_a_hint_starts_work_without_time_passing(stage: Stage) -> None:
    async with stage.consumer():
        stage.queue.enqueue(*jobs(1))
        stage.queue.hint("work")
        await stage.clock.settle()
        assert len(stage.handler.running) == 1
    assert stage.tally.found_by_hint == 1


async def test_a_burst_is_worked_off_without_a_poll(stage: Stage) -> None:
    stage.queue.enqueue(*jobs(50))
    stage.handler.gate.set()
    async with stage.consumer():
        await stage.clock.settle()
        assert stage.clock.monotonic() == 0
    assert len(stage.queue.done) == 50
    assert stage.outcomes == ["completed"] * 50


async def test_a_deferred_job_starts_when_it_is_due(stage: Stage) -> None:
    stage.queue.enqueue(a_job(delay=timedelta(seconds=7)))
    async with stage.consumer():
        await stage.clock.advance(6.9)
        assert stage.handler.running == {}
        await stage.clock.advance(0.1)
        assert len(stage.handler.running) == 1


async def test_a_silent_handler_is_stopped_before_its_lease_can_be_given_away(
    stage: Stage,
) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer():
        await stage.clock.advance(LEASE_S - 1)
        assert stage.handler.stopped == [job_id]
        assert stage.queue.jobs[job_id].lease_until > stage.clock.monotonic()
    assert stage.outcomes == ["lost"]
    assert stage.tally.leases_lost == 1


async def test_a_handler_that_makes_progress_keeps_its_job(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer():
        for _ in range(15):
            stage.handler.running[job_id].touch()
            await stage.clock.advance(10)
        assert stage.handler.stopped == []
        stage.handler.gate.set()
        await stage.clock.settle()
    assert stage.queue.done == {job_id: Outcome.COMPLETED}


async def test_a_lost_job_is_done_by_another_and_settled_once(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    rescuer = Handler()
    rescuer.gate.set()
    async with stage.consumer(), stage.consumer(BOB, handler=rescuer):
        await stage.clock.advance(2 * LEASE_S)
    assert stage.queue.done == {job_id: Outcome.COMPLETED}
    assert [outcome for _, _, outcome in stage.queue.attempts] == ["lost", "completed"]


async def test_a_cancel_reaches_a_handler_at_once_by_hint(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer():
        stage.queue.cancel(job_id)
        stage.queue.hint("cancel")
        await stage.clock.advance(0.25)
        assert stage.handler.stopped == [job_id]
    assert stage.queue.done == {job_id: Outcome.CANCELLED}


async def test_a_cancel_reaches_a_handler_within_six_seconds_without_hints(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer():
        stage.queue.cancel(job_id)
        await stage.until(lambda: job_id in stage.queue.done, within_s=5 * 1.2)
    assert stage.outcomes == ["cancelled"]


async def test_a_job_that_is_asked_back_goes_to_another_uncharged(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer(places=1), stage.consumer(BOB, places=1, handler=Handler()):
        stage.queue.jobs[job_id].is_to_be_released = True
        stage.queue.hint("cancel")
        await stage.clock.advance(0.5)
    job = stage.queue.jobs[job_id]
    assert (job.attempt, job.charged) == (2, 1)
    assert stage.outcomes[0] == "released"


async def test_what_a_killed_consumer_held_runs_again_after_its_lease(stage: Stage) -> None:
    stage.queue.enqueue(*jobs(2))
    async with stage.consumer():
        assert len(stage.handler.running) == 2
    second = Handler()
    async with stage.consumer(BOB, handler=second):
        took_s = await stage.until(lambda: len(second.running) == 2, within_s=LEASE_S + 15)
    assert took_s >= LEASE_S - 1


async def test_a_job_that_kills_every_consumer_ends_after_its_last_attempt(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(a_job(max_attempts=3))
    for number in range(3):
        async with stage.consumer(ConsumerId(f"victim:{number}")):
            assert job_id in stage.handler.running
        await stage.clock.advance(LEASE_S)
    async with stage.consumer(BOB):
        await stage.clock.advance(31)
    assert stage.queue.done == {job_id: Outcome.FAILED}


async def test_what_keeps_crashing_under_a_handler_ends_crashed(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(a_job(max_attempts=2))
    stage.handler.result = Crashed(timedelta(seconds=5), "signal SIGKILL")
    stage.handler.gate.set()
    async with stage.consumer():
        await stage.clock.advance(10)
    assert stage.queue.done == {job_id: Outcome.CRASHED}
    assert stage.outcomes == ["crashed", "crashed"]


async def test_an_outage_costs_time_and_the_polls_come_often_meanwhile(stage: Stage) -> None:
    async with stage.consumer():
        stage.queue.is_away = True
        await stage.clock.advance(60)
        stage.queue.is_away = False
        stage.queue.enqueue(*jobs(1))
        await stage.until(lambda: bool(stage.handler.running), within_s=2.4)


async def test_a_quiet_consumer_finishes_what_it_has_and_takes_no_more(stage: Stage) -> None:
    first, second, third = stage.queue.enqueue(*jobs(3))
    async with stage.consumer() as side:
        side.quiet()
        stage.handler.gate.set()
        await stage.clock.advance(60)
        assert set(stage.queue.done) == {first, second}
        side.resume()
        await stage.clock.settle()
    assert set(stage.queue.done) == {first, second, third}


async def test_a_drain_waits_for_what_ends_within_its_budget(stage: Stage) -> None:
    stage.queue.enqueue(*jobs(3))
    async with stage.consumer() as side:
        stopping = asyncio.create_task(side.stop(10))
        await stage.clock.advance(5)
        stage.handler.gate.set()
        await stage.clock.settle()
        assert stopping.done()
    assert len(stage.queue.done) == 2
    assert stage.handler.stopped == []


async def test_a_drain_gives_back_uncharged_what_does_not_end(stage: Stage) -> None:
    (job_id,) = stage.queue.enqueue(*jobs(1))
    async with stage.consumer() as side:
        stopping = asyncio.create_task(side.stop(10))
        await stage.clock.advance(10)
        assert stopping.done()
    job = stage.queue.jobs[job_id]
    assert (job.state, job.charged, job.token) == ("queued", 0, None)
    assert stage.outcomes == ["released"]


async def test_a_slot_is_not_free_before_a_stopped_handler_has_ended(stage: Stage) -> None:
    ids = stage.queue.enqueue(*jobs(2))
    slow = asyncio.Event()

    async def stubborn(work: Work, parsed: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await slow.wait()

    async with stage.consumer(places=1, handler=stubborn):
        stage.queue.cancel(ids[0])
        stage.queue.hint("cancel")
        await stage.clock.advance(1)
        assert stage.tally.jobs_claimed == 1
        slow.set()
        await stage.clock.advance(1)
        assert stage.tally.jobs_claimed == 2
