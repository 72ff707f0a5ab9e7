"""Claims work for the free slots of one process, and starts it; one fetcher a process."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog

from storyshelf.clock import Clock
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.deadline import STOP_WITHIN_S, within
from storyshelf.queue.job import Claimed, Lease
from storyshelf.queue.slots import Slots

log = structlog.get_logger(__name__)
T = TypeVar("T")
NOTHING = Claimed(leases=())


@dataclass(frozen=True, slots=True)
class Deeds:
    """What the fetcher has done by others."""

    claim: Callable[[Mapping[str, int]], Coroutine[Any, Any, Claimed]]
    run: Callable[[Lease, float], Awaitable[None]]  # never raises
    end_overdue: Callable[[], Coroutine[Any, Any, object]]
    release_all: Callable[[], None]  # has every running attempt stopped and given back
    is_hearing: Callable[[], bool]  # whether hints arrive


@dataclass(frozen=True, slots=True)
class Timing:
    """When the fetcher does it."""

    clock: Clock
    draw: Callable[[], float]
    cadence: Cadence = field(default_factory=Cadence)
    answer_within_s: float = 10.0


class Fetcher:
    """Polls, sooner on a hint; claims for free slots only, so that nothing is hoarded."""

    def __init__(self, places: Mapping[str, int], deeds: Deeds, timing: Timing) -> None:
        self._slots = Slots(places)
        self._deeds = deeds
        self._timing = timing
        self._clock = timing.clock
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._quiet = False
        self._hungry = self._slots.lanes  # lanes that may have more than was claimed
        self._last_work_at: float | None = None
        self._has_warned = False

    @property
    def running(self) -> int:
        """How many attempts are under way."""
        return self._slots.taken

    @property
    def is_quiet(self) -> bool:
        """Whether it claims no more."""
        return self._quiet

    def wake(self) -> None:
        """Look at the queue now; somebody said that there may be work."""
        self._wake.set()

    def work_was_enqueued_here(self) -> None:
        """Look now, and keep looking often for a while: work of this process was seen."""
        self._last_work_at = self._clock.monotonic()
        self._wake.set()

    def quiet(self) -> None:
        """Claim nothing more; what runs goes on, and `run_forever` returns when it is done."""
        self._quiet = True
        self._wake.set()

    async def stop(self, budget_s: float) -> None:
        """Claim nothing more, give what runs the budget to end, then have it given back."""
        self.quiet()
        if not await self._clock.wait_for(self._idle, budget_s):
            self._deeds.release_all()
            await self._clock.wait_for(self._idle, 2 * STOP_WITHIN_S)

    async def run_forever(self) -> None:
        """Claim and run until quiet; then return when everything that was claimed has ended."""
        async with asyncio.TaskGroup() as group:
            while not self._quiet:
                self._wake.clear()
                claimed = await self._claim_and_start(group)
                if claimed.next_due_s != 0:
                    await self._clock.wait_for(self._wake, self._wait_s(claimed))

    async def _claim_and_start(self, group: asyncio.TaskGroup) -> Claimed:
        free = self._slots.take_all_free()
        if not free:
            self._hungry = self._slots.lanes
            return NOTHING
        self._idle.clear()  # whoever waits for the end waits for this answer too
        sent_at = self._clock.monotonic()
        claimed = await self._claim(free)
        for lease in claimed.leases:
            self._last_work_at = sent_at
            group.create_task(self._run(lease, sent_at))
        self._give_back_unused(free, claimed)
        if claimed.overdue:
            await self._guarded(self._deeds.end_overdue())
        return claimed

    def _give_back_unused(self, free: Mapping[str, int], claimed: Claimed) -> None:
        got = Counter(lease.lane for lease in claimed.leases)
        for lane, places in free.items():
            self._slots.give_back(lane, places - got[lane])
        self._hungry = self._slots.lanes - {lane for lane in free if got[lane] < free[lane]}
        if any(self._slots.has_free(lane) for lane in self._hungry):
            self._wake.set()  # a place was freed while the claim was under way
        self._note_idleness()

    async def _claim(self, free: Mapping[str, int]) -> Claimed:
        found = await self._guarded(self._deeds.claim(free))
        return found or NOTHING

    async def _guarded(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return what the work returns, None if it failed: the next turn tries again."""
        try:
            found = await within(self._clock, self._timing.answer_within_s, work)
        except Exception as error:  # noqa: BLE001  # the loop outlives whatever it was
            if not self._has_warned:
                log.warning("claim.failed", error=repr(error))
            self._has_warned = True
            return None
        self._has_warned = False
        return found

    def _note_idleness(self) -> None:
        if self._slots.taken == 0:
            self._idle.set()

    async def _run(self, lease: Lease, sent_at: float) -> None:
        try:
            await self._deeds.run(lease, sent_at)
        finally:
            self._slots.give_back(lease.lane)
            self._note_idleness()
            if lease.lane in self._hungry:
                self._wake.set()

    def _wait_s(self, claimed: Claimed) -> float:
        now = self._clock.monotonic()
        since_work_s = None if self._last_work_at is None else now - self._last_work_at
        if self._has_warned or not self._deeds.is_hearing():
            since_work_s = 0.0  # the hints are down, or the database is: look often
        return self._timing.cadence.next_wait_s(
            since_work_s, self._timing.draw(), claimed.next_due_s
        )
