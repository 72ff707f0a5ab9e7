import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID

import pytest

from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue.job import Lease
from storyshelf.queue.lease_keeper import Abandoned, Hold, LeaseKeeper
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.store import Standing
from tests.fakes import FakeClock

TIMES = LeaseTimes()
A_LEASE = Lease(
    job_id=JobId(1),
    token=LeaseToken(UUID(int=1)),
    kind="capture",
    lane="capture@x",
    payload={},
    project_id=None,
    build_id=None,
    generation=0,
    attempt=1,
    charged=1,
    max_attempts=3,
)
ANOTHER = replace(A_LEASE, job_id=JobId(2))


def held(keeper: LeaseKeeper, lease: Lease, sent_at: float) -> Hold:
    """A lease that the keeper looks after from now on."""
    hold = Hold(lease, sent_at, LeaseTimes())
    keeper.keep(hold)
    return hold


class Answers:
    """The database as the keeper sees it: which leases it knows, and whether it answers."""

    def __init__(self) -> None:
        self.renewals: list[list[JobId]] = []
        self.checks: list[list[JobId]] = []
        self.lost: set[LeaseToken] = set()
        self.cancelled: set[JobId] = set()
        self.failure: Exception | None = None
        self.never = asyncio.Event()
        self.hangs = False

    async def ask(self, due: Sequence[Lease], others: Sequence[Lease]) -> Sequence[Standing]:
        self.renewals.append([lease.job_id for lease in due])
        self.checks.append([lease.job_id for lease in others])
        if self.hangs:
            await self.never.wait()
        if self.failure is not None:
            raise self.failure
        return [
            Standing(lease.job_id, lease.token, lease.job_id in self.cancelled)
            for lease in (*due, *others)
            if lease.token not in self.lost
        ]

    @property
    def renewed(self) -> list[JobId]:
        return [job_id for due in self.renewals for job_id in due]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def answers() -> Answers:
    return Answers()


@pytest.fixture
async def keeper(answers: Answers, clock: FakeClock) -> AsyncIterator[LeaseKeeper]:
    keeper = LeaseKeeper(answers.ask, clock, TIMES)
    async with running(keeper):
        yield keeper


@asynccontextmanager
async def running(keeper: LeaseKeeper) -> AsyncIterator[None]:
    task = asyncio.create_task(keeper.run_forever())
    yield
    task.cancel()
    await asyncio.wait({task})


async def test_a_lease_is_renewed_while_its_work_makes_progress(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    for _ in range(60):
        hold.touched = True
        await clock.advance(5)
    assert why(hold) is None
    assert len(answers.renewed) == 20  # every 15 s of 300


async def test_a_silent_handler_loses_its_job_before_the_lease_can_be_given_away(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    await clock.advance(49.9)
    assert why(hold) is None
    await clock.advance(0.2)
    assert why(hold) is Abandoned.LOST
    assert answers.renewed == []


async def test_trust_counts_from_when_the_request_was_sent(
    keeper: LeaseKeeper, clock: FakeClock
) -> None:
    await clock.advance(30)
    hold = held(keeper, A_LEASE, clock.monotonic() - 20)
    await clock.advance(29.9)
    assert why(hold) is None
    await clock.advance(0.2)
    assert why(hold) is Abandoned.LOST


async def test_work_stops_in_time_while_the_database_hangs(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    answers.hangs = True
    for _ in range(10):
        hold.touched = True
        await clock.advance(5)
    assert why(hold) is Abandoned.LOST
    assert clock.monotonic() == 50


async def test_a_failed_renewal_is_tried_again_and_then_counts(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    hold.touched = True
    answers.failure = ConnectionResetError()
    await clock.advance(30)
    answers.failure = None
    await clock.advance(25)
    assert why(hold) is None
    assert hold.trusted_until == 35 + 50


@pytest.mark.parametrize("slept_s", [5.0, 6.0])
async def test_a_cancel_reaches_the_work_within_one_check(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock, slept_s: float
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    answers.cancelled = {A_LEASE.job_id}
    await clock.advance(slept_s)
    assert why(hold) is Abandoned.CANCELLED


async def test_a_hint_makes_a_cancel_reach_the_work_at_once(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    await clock.settle()
    answers.cancelled = {A_LEASE.job_id}
    keeper.look_now()
    await clock.settle()
    assert why(hold) is Abandoned.CANCELLED
    assert clock.monotonic() == 0


async def test_a_lease_that_the_database_does_not_know_is_lost(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    gone, kept = (held(keeper, lease, clock.monotonic()) for lease in (A_LEASE, other_token()))
    answers.lost = {A_LEASE.token}
    await clock.advance(5)
    assert (gone.why, kept.why) == (Abandoned.LOST, None)


async def test_one_question_is_asked_for_all_leases_and_none_without(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    await clock.advance(60)
    assert answers.checks == []
    first, _ = held(keeper, A_LEASE, 60), held(keeper, ANOTHER, 60)
    await clock.advance(10)
    first.touched = True
    await clock.advance(5)
    assert (answers.checks[-1], answers.renewals[-1]) == ([2], [1])
    assert len(answers.checks) == 3


async def test_a_forgotten_lease_is_not_asked_about(
    keeper: LeaseKeeper, answers: Answers, clock: FakeClock
) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    keeper.forget(hold)
    keeper.forget(hold)
    await clock.advance(60)
    assert answers.checks == []
    assert why(hold) is None


async def test_the_first_reason_to_stop_stands(keeper: LeaseKeeper, clock: FakeClock) -> None:
    hold = held(keeper, A_LEASE, clock.monotonic())
    keeper.abandon_all(Abandoned.RELEASED)
    hold.abandon(Abandoned.LOST)
    assert why(hold) is Abandoned.RELEASED


async def test_a_lease_that_comes_after_everything_was_released_is_released_too(
    keeper: LeaseKeeper, clock: FakeClock
) -> None:
    keeper.abandon_all(Abandoned.RELEASED)
    assert why(held(keeper, A_LEASE, clock.monotonic())) is Abandoned.RELEASED


def why(hold: Hold) -> Abandoned | None:
    """Read afresh: the type checker believes that it stays what it was."""
    return hold.why


def other_token() -> Lease:
    """The same job, held a second time while the first hold is being stopped."""
    return replace(A_LEASE, token=LeaseToken(UUID(int=2)))
