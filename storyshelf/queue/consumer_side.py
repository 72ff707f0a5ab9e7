"""The parts that claim and run, put together for one consumer process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.expiry import ExpiryTimer, end_overdue
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.fetcher import Deeds, Fetcher, Timing
from storyshelf.queue.job import Claimed
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.job_runner import JobRunner
from storyshelf.queue.lease_keeper import Abandoned, LeaseKeeper, asking
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Settler
from storyshelf.queue.wakeup import HintLine


@dataclass(frozen=True, slots=True)
class ConsumerOptions:
    """Who claims, how much, at what pace, and by whose time and chance."""

    consumer_id: ConsumerId
    places: Mapping[str, int]  # slots a lane; a lane is offered only if all its kinds are handled
    clock: Clock
    draw: Callable[[], float]
    times: LeaseTimes = field(default_factory=LeaseTimes)
    cadence: Cadence = field(default_factory=Cadence)
    failpoint: Failpoint = no_failpoint
    also_expire: Sequence[Callable[[], Awaitable[object]]] = ()  # on the expiry timer


class ConsumerSide:
    """Claims, runs and settles; takes over the database's `announce` for hints."""

    def __init__(self, db: Database, kinds: JobKinds, options: ConsumerOptions) -> None:
        clock, draw, failpoint = options.clock, options.draw, options.failpoint
        self._db = db
        self._kinds = kinds
        self._options = options
        self.keeper = LeaseKeeper(asking(db, options.times), clock, options.times)
        self.settler = Settler(db, kinds, clock, draw=draw, failpoint=failpoint)
        self.runner = JobRunner(
            db=db,
            kinds=kinds,
            keeper=self.keeper,
            settler=self.settler,
            clock=clock,
            draw=draw,
            times=options.times,
            failpoint=failpoint,
        )
        self.hints = HintLine(db.direct_connection, clock, self._on_word)
        self.expiry = ExpiryTimer(db, kinds, clock, draw, options.also_expire)
        self.fetcher = Fetcher(options.places, self._deeds(), Timing(clock, draw, options.cadence))
        db.announce = self.announce

    def running_jobs(self) -> tuple[JobId, ...]:
        """Return the jobs whose leases are held here."""
        return self.keeper.held

    def announce(self, words: frozenset[str]) -> None:
        """Act on what was committed here, and tell the others."""
        if "work" in words:
            self.fetcher.work_was_enqueued_here()
        if "cancel" in words:
            self.keeper.look_now()
        self.hints.send(words)

    async def run_forever(self) -> None:
        """Claim and run until stopped; returns when what was claimed has ended."""
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(part.run_forever())
                for part in (self.keeper, self.hints, self.expiry)
            ]
            await self.fetcher.run_forever()
            for task in beside:
                task.cancel()

    async def stop(self, budget_s: float) -> None:
        """Claim no more; give back, uncharged, what has not ended within the budget."""
        await self.fetcher.stop(budget_s)

    def _deeds(self) -> Deeds:
        return Deeds(
            claim=self._claim,
            run=self.runner.run,
            end_overdue=lambda: end_overdue(self._db, self._kinds),
            release_all=lambda: self.keeper.abandon_all(Abandoned.RELEASED),
            is_hearing=lambda: self.hints.is_connected,
        )

    async def _claim(self, free: Mapping[str, int]) -> Claimed:
        options = self._options
        async with self._db.transaction() as tx:
            found = await store.claim(tx, options.consumer_id, free, options.times.lease_for)
        if found.leases:
            options.failpoint(Place.AFTER_CLAIM)
        return found

    def _on_word(self, word: str) -> None:
        if word == "work":
            self.fetcher.wake()
        if word == "cancel":
            self.keeper.look_now()
