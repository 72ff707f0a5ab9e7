"""Claims work for the free slots of one process, and starts it; one fetcher a process."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog

from storyshelf.clock import Clock
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.deadline import STOP_WITHIN_S, within
from storyshelf.queue.job import Claimed, Lease
from storyshelf.queue.low_water import LowWater
from storyshelf.queue.slots import Offer, Slot, Slots
from storyshelf.queue.tally import Tally

log = structlog.get_logger(__name__)
T = TypeVar("T")
NOTHING = Claimed(leases=())
UNSETTLED_A_SLOT = 4  # attempts that may wait to be settled, for each slot
# Never raises; the slot is told when the handler has ended, and when the attempt has.
Start = Callable[[Lease, float, Slot], None]


@dataclass(frozen=True, slots=True)
class Deeds:
    """What the fetcher has done by others."""

    claim: Callable[[Mapping[str, Offer]], Coroutine[Any, Any, Claimed]]
    start: Start
    drop_all: Callable[[], Coroutine[Any, Any, None]]  # has what was started stopped, for good
    end_overdue: Callable[[], Coroutine[Any, Any, object]]
    let_in_parked: Callable[[], Coroutine[Any, Any, int]]
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
    """Polls, sooner on a hint; claims for free slots only, so that nothing is hoarded.

    A slot is free again as soon as its handler has ended; the settle goes on beside. When too much
    waits to be settled, nothing is claimed: the database is slower than the work, or away.
    """

    def __init__(
        self,
        places: Mapping[str, int],
        deeds: Deeds,
        timing: Timing,
        tally: Tally | None = None,
    ) -> None:
        self._slots = Slots(places)
        self._low_water = LowWater(timing.cadence.active_s)
        self._deeds = deeds
        self._timing = timing
        self._clock = timing.clock
        self._tally = tally or Tally()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._quiet = False
        self._stopping = False
        self._hungry = self._slots.lanes  # lanes that may have more than was claimed
        self._unsettled = 0  # attempts whose slots are free already
        self._last_work_at: float | None = None
        self._has_warned = False
        self._was_told = False  # that there may be work
        self._has_polled = False  # nobody said anything, it was time
        self._has_asked = False  # in its last turn: there was a place, and it was not behind
        self._are_parked = False  # some jobs, when everything was looked at last

    @property
    def running(self) -> int:
        """How many attempts are under way, or about to be."""
        return self._slots.taken

    @property
    def is_quiet(self) -> bool:
        """Whether it claims no more."""
        return self._quiet

    def wake(self) -> None:
        """Look at the queue now; somebody said that there may be work."""
        self._was_told = True
        self._wake.set()

    def work_was_enqueued_here(self) -> None:
        """Look now, and keep looking often for a while: work of this process was seen."""
        self._last_work_at = self._clock.monotonic()
        self.wake()

    def quiet(self) -> None:
        """Claim nothing more until `resume`; what runs goes on."""
        self._quiet = True
        self._wake.set()

    def resume(self) -> None:
        """Claim again, at once; a stop is not taken back."""
        self._quiet = self._stopping
        self.wake()

    async def stop(self, budget_s: float) -> None:
        """Claim nothing more, give what runs the budget to end, then have it given back."""
        self._stopping = True
        self.quiet()
        if not await self._clock.wait_for(self._idle, budget_s):
            self._deeds.release_all()
            await self._clock.wait_for(self._idle, 2 * STOP_WITHIN_S)

    async def run_forever(self) -> None:
        """Claim and run until stopped; then return when everything that was claimed has ended."""
        try:
            while not self._stopping:
                self._wake.clear()
                if self._quiet:
                    await self._wake.wait()
                    continue
                claimed = await self._claim_and_start()
                if claimed.next_due_s != 0:
                    woken = await self._clock.wait_for(self._wake, self._wait_s(claimed))
                    self._has_polled = not woken
            await self._idle.wait()
        finally:
            await self._deeds.drop_all()  # nothing, unless it was cancelled

    async def _claim_and_start(self) -> Claimed:
        offers = {} if self._is_behind() else self._slots.hold_all_free()
        self._has_asked = bool(offers)
        if not offers:
            self._hungry = self._slots.lanes
            return NOTHING
        self._idle.clear()  # whoever waits for the end waits for this answer too
        sent_at = self._clock.monotonic()
        offers = self._low_water.bound(offers, sent_at)
        claimed = await self._claim(offers)
        self._slots.fill(claimed.leases)
        self._low_water.learn(claimed.leases)
        for lease in claimed.leases:
            self._last_work_at = sent_at
            self._deeds.start(lease, sent_at, _Place(self, lease))
        self._note_hunger(offers, claimed)
        await self._tend(claimed)
        return claimed

    async def _claim(self, offers: Mapping[str, Offer]) -> Claimed:
        answer = await self._guarded(self._deeds.claim(offers))
        if answer is None:
            return NOTHING
        self._count(answer)
        return answer

    def _is_behind(self) -> bool:
        return self._unsettled >= UNSETTLED_A_SLOT * self._slots.count

    def _note_hunger(self, offers: Mapping[str, Offer], claimed: Claimed) -> None:
        got = Counter(lease.lane for lease in claimed.leases)
        sated = {lane for lane, offer in offers.items() if got[lane] < offer.shared}
        self._hungry = self._slots.lanes - sated
        if any(self._slots.has_shared(lane) for lane in self._hungry):
            self._wake.set()  # a place was freed while the claim was under way
        self._note_idleness()

    async def _tend(self, claimed: Claimed) -> None:
        """Do what the claim has found and could not do itself."""
        if claimed.next_due_s == 0 and claimed.parked is not None:
            self._low_water.forget()  # a look at everything leaves what was due in its old place
        if claimed.overdue:
            await self._guarded(self._deeds.end_overdue())
        if claimed.parked is not None:
            self._are_parked = claimed.parked
        if claimed.parked:
            let_in = await self._guarded(self._deeds.let_in_parked())
            if let_in:
                self._low_water.forget()
                self._wake.set()

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

    def _count(self, claimed: Claimed) -> None:
        tally, brought = self._tally, len(claimed.leases)
        tally.claims += 1
        tally.jobs_claimed += brought
        tally.taken_over += claimed.taken_over
        if not brought:
            tally.empty_claims += 1
        elif self._was_told:
            tally.found_by_hint += 1
        elif self._has_polled:
            tally.found_by_poll += 1
        self._was_told = self._has_polled = False

    def _note_idleness(self) -> None:
        if self._slots.taken == 0 and self._unsettled == 0:
            self._idle.set()

    def place_is_free(self, lease: Lease) -> None:
        """Take note that a handler has ended; its attempt has to be settled yet."""
        self._slots.give_back(lease)
        self._unsettled += 1
        if lease.lane in self._hungry:
            self._wake.set()

    def attempt_is_over(self) -> None:
        """Take note that an attempt is settled, or left: there may be room for a parked job."""
        was_behind = self._is_behind()
        self._unsettled -= 1
        self._note_idleness()
        if self._are_parked:
            self._low_water.forget()  # its project may let in another
        if was_behind or self._are_parked:
            self._wake.set()

    def _wait_s(self, claimed: Claimed) -> float:
        now = self._clock.monotonic()
        since_work_s = None if self._last_work_at is None else now - self._last_work_at
        if self._has_warned or not self._deeds.is_hearing():
            since_work_s = 0.0  # the hints are down, or the database is: look often
        wait_s = self._timing.cadence.next_wait_s(
            since_work_s, self._timing.draw(), claimed.next_due_s
        )
        look_s = self._low_water.next_look_s(now) if self._has_asked else None
        return wait_s if look_s is None else min(wait_s, look_s)


@dataclass(slots=True)
class _Place:
    """The slot of one attempt: freed once, when its handler has ended, or at its own end."""

    fetcher: Fetcher
    lease: Lease
    is_free: bool = False

    def free(self) -> None:
        if not self.is_free:
            self.is_free = True
            self.fetcher.place_is_free(self.lease)

    def end(self) -> None:
        self.free()
        self.fetcher.attempt_is_over()
