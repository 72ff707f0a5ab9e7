import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue.fetcher import Deeds, Fetcher, Timing
from storyshelf.queue.job import Claimed, Lease
from storyshelf.queue.slots import Offer, Slot
from storyshelf.queue.tally import Tally
from tests.fakes import FakeClock
from tests.queue.test_lease_keeper import A_LEASE


class Queue:
    """A queue of ready jobs in memory, and attempts that last until the test ends them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.ready: list[str] = []  # lanes, in order
        self.claims: list[tuple[float, dict[str, int]]] = []
        self.running: dict[JobId, asyncio.Event] = {}
        self.next_due_s: float | None = None
        self.overdue = False
        self.overdue_ended = 0
        self.parked = 0
        self.has_room = True  # for what is parked
        self.released = 0
        self.hears = True
        self.failures = 0
        self.promotions = 0  # how many claims find deferred jobs that became due
        self.tasks: list[asyncio.Task[None]] = []
        self._last_id = 0

    async def claim(self, free: Mapping[str, Offer]) -> Claimed:
        self.claims.append(
            (self.clock.monotonic(), {lane: offer.free for lane, offer in free.items()})
        )
        if self.failures:
            self.failures -= 1
            raise ConnectionResetError
        if self.promotions:
            self.promotions -= 1
            return Claimed((), next_due_s=0.0)
        leases = [self._take(lane) for lane, offer in free.items() for _ in range(offer.free)]
        taken = tuple(lease for lease in leases if lease is not None)
        return Claimed(taken, self.next_due_s, self.overdue, parked=self.parked > 0)

    def _take(self, lane: str) -> Lease | None:
        if lane not in self.ready:
            return None
        self.ready.remove(lane)
        self._last_id += 1
        token = LeaseToken(UUID(int=self._last_id))
        return replace(A_LEASE, job_id=JobId(self._last_id), lane=lane, token=token)

    def start(self, lease: Lease, sent_at: float, slot: Slot) -> None:
        self.running[lease.job_id] = asyncio.Event()
        self.tasks.append(asyncio.create_task(self._run(lease, slot)))

    async def _run(self, lease: Lease, slot: Slot) -> None:
        await self.running[lease.job_id].wait()
        del self.running[lease.job_id]
        slot.end()

    async def drop_all(self) -> None:
        for task in self.tasks:
            task.cancel()

    async def end_overdue(self) -> None:
        self.overdue_ended += 1
        self.overdue = False

    async def let_in_parked(self) -> int:
        if not self.has_room:
            return 0
        let_in, self.parked = self.parked, 0
        self.ready += ["capture@x"] * let_in
        return let_in

    def release_all(self) -> None:
        self.released += 1
        for event in self.running.values():
            event.set()

    @property
    def claimed_at(self) -> list[float]:
        return [at for at, _ in self.claims]


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def queue(clock: FakeClock) -> Queue:
    return Queue(clock)


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
async def fetcher(queue: Queue, clock: FakeClock, tally: Tally) -> AsyncIterator[Fetcher]:
    deeds = Deeds(
        queue.claim,
        queue.start,
        queue.drop_all,
        queue.end_overdue,
        queue.let_in_parked,
        queue.release_all,
        lambda: queue.hears,
    )
    fetcher = Fetcher({"build": 1, "capture@x": 2}, deeds, Timing(clock, lambda: 0.0), tally)
    task = asyncio.create_task(fetcher.run_forever())
    await clock.settle()
    yield fetcher
    task.cancel()
    await asyncio.wait({task})


async def test_an_idle_queue_is_looked_at_every_fifteen_seconds(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    await clock.advance(60)
    assert queue.claimed_at == [0, 15, 30, 45, 60]


async def test_after_work_was_seen_it_is_looked_at_every_two_seconds_for_a_minute(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["build"]
    await clock.advance(15)
    await clock.advance(90)
    assert queue.claimed_at[:4] == [0, 15, 17, 19]
    assert queue.claimed_at[-3:] == [75, 90, 105]


async def test_work_enqueued_here_is_claimed_at_once_and_counts_as_seen(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    fetcher.work_was_enqueued_here()
    await clock.advance(4)
    assert queue.claimed_at == [0, 0, 2, 4]


async def test_a_hint_from_elsewhere_wakes_once(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    fetcher.wake()
    await clock.advance(14)
    assert queue.claimed_at == [0, 0]


async def test_without_hints_it_is_looked_at_often(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.hears = False
    await clock.advance(15)
    await clock.advance(4)
    assert queue.claimed_at == [0, 15, 17, 19]


async def test_only_free_slots_are_claimed_for(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["capture@x"]
    fetcher.wake()
    await clock.advance(2)
    assert [free for _, free in queue.claims][-2:] == [
        {"build": 1, "capture@x": 2},
        {"build": 1, "capture@x": 1},
    ]
    assert fetcher.running == 1


async def test_a_slot_that_becomes_free_is_filled_at_once_while_there_is_more(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["capture@x"] * 5
    fetcher.wake()
    await clock.settle()
    for _ in range(3):
        next(iter(queue.running.values())).set()
        await clock.settle()
    assert clock.monotonic() == 0
    assert queue.ready == []
    assert len(queue.running) == 2


async def test_a_slot_that_becomes_free_on_an_exhausted_lane_asks_nothing(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["capture@x"]
    fetcher.wake()
    await clock.settle()
    before = len(queue.claims)
    next(iter(queue.running.values())).set()
    await clock.settle()
    assert len(queue.claims) == before


async def test_a_hint_that_came_while_all_slots_were_taken_is_not_lost(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["build", "capture@x", "capture@x"]
    fetcher.wake()
    await clock.advance(2)
    queue.ready = ["build"]
    fetcher.wake()
    await clock.settle()
    queue.running[JobId(1)].set()
    await clock.settle()
    assert queue.ready == []
    assert clock.monotonic() == 2


async def test_a_wait_ends_when_the_next_job_is_due(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.next_due_s = 3.5
    fetcher.wake()
    await clock.settle()
    queue.next_due_s = None
    await clock.advance(3.5)
    assert queue.claimed_at == [0, 0, 3.5]


async def test_jobs_that_became_ready_in_a_claim_are_claimed_at_once(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.promotions = 2
    fetcher.wake()
    await clock.settle()
    assert queue.claimed_at == [0, 0, 0, 0]


async def test_a_claim_that_fails_is_tried_again_soon(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.failures = 2
    queue.ready = ["build"]
    fetcher.wake()
    await clock.advance(4)
    assert queue.claimed_at == [0, 0, 2, 4]
    assert fetcher.running == 1


async def test_a_claim_that_nobody_answered_is_not_counted(
    fetcher: Fetcher, queue: Queue, clock: FakeClock, tally: Tally
) -> None:
    queue.failures = 2
    fetcher.wake()
    await clock.advance(2)
    assert (len(queue.claims), tally.claims, tally.empty_claims) == (3, 1, 1)


async def test_an_attempt_that_ends_makes_room_for_a_parked_job_at_once(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready, queue.parked, queue.has_room = ["capture@x"], 1, False
    fetcher.wake()
    await clock.settle()
    queue.has_room = True
    queue.running[JobId(1)].set()
    await clock.settle()
    assert (clock.monotonic(), list(queue.running)) == (0, [JobId(2)])


async def test_overdue_jobs_are_ended_when_a_claim_reports_them(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.overdue = True
    fetcher.wake()
    await clock.advance(15)
    assert queue.overdue_ended == 1


async def test_a_quiet_fetcher_finishes_what_it_has_and_claims_no_more(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["build"]
    fetcher.wake()
    await clock.settle()
    fetcher.quiet()
    await clock.settle()
    before = len(queue.claims)
    queue.ready = ["build"]
    next(iter(queue.running.values())).set()
    await clock.advance(60)
    assert len(queue.claims) == before
    assert fetcher.running == 0


async def test_a_stop_waits_for_what_ends_within_the_budget(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["build"]
    fetcher.wake()
    await clock.settle()
    stopping = asyncio.create_task(fetcher.stop(budget_s=25))
    await clock.advance(20)
    assert not stopping.done()
    next(iter(queue.running.values())).set()
    await clock.settle()
    assert stopping.done()
    assert queue.released == 0


async def test_a_stop_releases_what_is_over_the_budget(
    fetcher: Fetcher, queue: Queue, clock: FakeClock
) -> None:
    queue.ready = ["build", "capture@x"]
    fetcher.wake()
    await clock.settle()
    stopping = asyncio.create_task(fetcher.stop(budget_s=25))
    await clock.advance(25)
    assert stopping.done()
    assert queue.released == 1
    assert fetcher.running == 0
