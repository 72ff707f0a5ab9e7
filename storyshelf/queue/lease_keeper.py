"""Keeps the leases of one process while their work makes progress, and says when one is over."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import Any

import structlog

from storyshelf.clock import Clock
from storyshelf.ids import JobId, LeaseToken
from storyshelf.queue import store
from storyshelf.queue.deadline import within
from storyshelf.queue.job import Lease
from storyshelf.queue.lease_times import LeaseTimes

log = structlog.get_logger(__name__)


# Given the leases to renew and those to look at, return how they stand; the missing ones are lost.
Ask = Callable[[Sequence[Lease], Sequence[Lease]], Coroutine[Any, Any, Sequence[store.Standing]]]


class Abandoned(StrEnum):
    """Why an attempt is stopped without a result."""

    LOST = "lost"
    CANCELLED = "cancelled"
    RELEASED = "released"


def nothing_to_stop() -> None:
    """Let the work be: whoever does it looks for itself."""


class Hold:
    """One lease in this process: what is known of it, and whether its work must stop."""

    def __init__(
        self,
        lease: Lease,
        sent_at: float,
        times: LeaseTimes,
        on_over: Callable[[], None] = nothing_to_stop,
    ) -> None:
        self.lease = lease
        self.touched = False
        self.has_recorded = False
        self.on_over = on_over  # called once, when the work has to stop
        self.why: Abandoned | None = None
        self._times = times
        self.renewed_at = sent_at
        self.trusted_until = times.trusted_until(sent_at)

    def renewed(self, sent_at: float) -> None:
        """Trust the lease anew, from the moment the request was sent."""
        self.renewed_at = max(self.renewed_at, sent_at)
        self.trusted_until = self._times.trusted_until(self.renewed_at)

    def abandon(self, why: Abandoned) -> None:
        """Have the work stopped; the first reason stands."""
        if self.why is None:
            self.why = why
            self.on_over()

    @property
    def key(self) -> tuple[JobId, LeaseToken]:
        """What the database knows the hold by; a job may be held twice while an old hold ends."""
        return self.lease.job_id, self.lease.token


class LeaseKeeper:
    """One statement looks after all leases of the process; a silent handler is not renewed.

    Two loops, because the trust in a lease must end on time even while the database does not
    answer. Both end by being cancelled.
    """

    def __init__(self, ask: Ask, clock: Clock, times: LeaseTimes) -> None:
        self._ask = ask
        self._clock = clock
        self._times = times
        self._holds: dict[Hold, None] = {}  # in the order they came
        self._changed = asyncio.Event()
        self._asked = asyncio.Event()
        self._has_warned = False
        self._all_over: Abandoned | None = None
        self._next_end = inf  # of the trust in a lease: the loop sleeps until then

    @property
    def held(self) -> tuple[JobId, ...]:
        """Return the jobs that are worked on."""
        return tuple(hold.lease.job_id for hold in self._holds)

    def keep(self, hold: Hold) -> None:
        """Look after the lease until it is forgotten."""
        self._holds[hold] = None
        if self._all_over is not None:
            hold.abandon(self._all_over)
        if hold.trusted_until < self._next_end:
            self._changed.set()

    def forget(self, hold: Hold) -> None:
        """Look after it no more; harmless when repeated."""
        self._holds.pop(hold, None)

    def abandon_all(self, why: Abandoned) -> None:
        """Have the work on every lease stopped, also on one that a claim under way still brings."""
        self._all_over = why
        for hold in self._standing():
            hold.abandon(why)

    def look_now(self) -> None:
        """Ask the database before the next turn: somebody said that a job was cancelled."""
        self._asked.set()

    async def run_forever(self) -> None:
        """Renew, check and stop trusting, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._distrust_forever())
            group.create_task(self._look_forever())

    async def _distrust_forever(self) -> None:
        while True:
            self._changed.clear()
            now = self._clock.monotonic()
            for hold in self._standing():
                if hold.trusted_until <= now:
                    hold.abandon(Abandoned.LOST)
            self._next_end = min((hold.trusted_until for hold in self._standing()), default=inf)
            if self._next_end == inf:
                await self._changed.wait()
            else:
                await self._clock.wait_for(self._changed, self._next_end - now)

    async def _look_forever(self) -> None:
        while True:
            await self._clock.wait_for(self._asked, self._times.check_every_s)
            self._asked.clear()
            await self._look()

    async def _look(self) -> None:
        holds = self._standing()
        if not holds:
            return
        sent_at = self._clock.monotonic()
        due = [hold for hold in holds if self._is_due(hold, sent_at)]
        for hold in due:
            hold.touched = False
        others = [hold for hold in holds if hold not in due]
        question = self._ask([hold.lease for hold in due], [hold.lease for hold in others])
        try:
            found = await within(self._clock, self._times.answer_within_s, question)
        except Exception as error:  # noqa: BLE001  # whatever it was, trust runs out by itself
            self._unanswered(due, error)
            return
        self._has_warned = False
        standing = {(each.job_id, each.token): each for each in found}
        for hold in due:
            if hold.key in standing:
                hold.renewed(sent_at)
        _abandon_what_is_over(holds, standing)

    def _is_due(self, hold: Hold, now: float) -> bool:
        return hold.touched and now - hold.renewed_at >= self._times.renew_every_s

    def _unanswered(self, due: Sequence[Hold], error: Exception) -> None:
        for hold in due:
            hold.touched = True
        if not self._has_warned:
            self._has_warned = True
            log.warning("lease.unanswered", error=repr(error), held=len(self._holds))

    def _standing(self) -> list[Hold]:
        return [hold for hold in self._holds if hold.why is None]


def _abandon_what_is_over(
    holds: Sequence[Hold], standing: Mapping[tuple[JobId, LeaseToken], store.Standing]
) -> None:
    for hold in holds:
        known = standing.get(hold.key)
        if known is None:
            hold.abandon(Abandoned.LOST)
        elif known.cancel_requested:
            hold.abandon(Abandoned.CANCELLED)
        elif known.release_requested:
            hold.abandon(Abandoned.RELEASED)
