"""The parts that claim and run, put together for one consumer process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue.cadence import Cadence
from storyshelf.queue.expiry import ExpiryTimer
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.fetcher import Deeds, Fetcher, Timing
from storyshelf.queue.ground import DatabaseGround, Ground
from storyshelf.queue.job import AttemptEnded, Claimed, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.job_runner import JobRunner, Observe, unobserved
from storyshelf.queue.lease_keeper import Abandoned, LeaseKeeper
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Settler
from storyshelf.queue.slots import Offer
from storyshelf.queue.tally import Tally
from storyshelf.queue.wakeup import HintLine, Probe, ask_one

LAST_HINT_WITHIN_S = 1.0  # for others to hear of what was given back; they poll as well


def nothing_to_do() -> None:
    """Leave it to the next beat."""


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
    observe: Observe = unobserved  # told of each attempt that has ended
    tally: Tally = field(default_factory=Tally)
    probe: Probe = ask_one  # asks something on the hint line, to see that it is alive
    on_consumers_word: Callable[[], None] = nothing_to_do  # a consumer was asked for something
    also_expire: Sequence[Callable[[], Awaitable[object]]] = ()  # on the expiry timer


class ConsumerSide:
    """Claims, runs and settles; hears of what is committed here, to hint at it."""

    def __init__(self, db: Database | Ground, kinds: JobKinds, options: ConsumerOptions) -> None:
        clock, draw = options.clock, options.draw
        self._options = options
        self._ground = ground_on(db, kinds, options) if isinstance(db, Database) else db
        self.keeper = LeaseKeeper(self._ground.ask, clock, options.times)
        self.runner = JobRunner(
            db=self._ground,
            kinds=kinds,
            keeper=self.keeper,
            settler=self._ground,
            clock=clock,
            draw=draw,
            times=options.times,
            failpoint=options.failpoint,
            observe=self._observe,
        )
        self.hints = HintLine(
            self._ground.hint_connection, clock, self._on_word, options.probe, options.tally
        )
        timing = Timing(clock, draw, options.cadence, options.times.answer_within_s)
        self.fetcher = Fetcher(options.places, self._deeds(), timing, options.tally)
        self._ground.tell(self.announce)

    def running_jobs(self) -> tuple[JobId, ...]:
        """Return the jobs whose leases are held here."""
        return self.keeper.held

    @property
    def is_quiet(self) -> bool:
        """Whether nothing more is claimed."""
        return self.fetcher.is_quiet

    def quiet(self) -> None:
        """Claim nothing more until `resume`; what runs goes on."""
        self.fetcher.quiet()

    def resume(self) -> None:
        """Claim again, unless a stop was asked for."""
        self.fetcher.resume()

    def announce(self, words: frozenset[str]) -> None:
        """Act on what was committed here, and tell the others."""
        if "work" in words:
            self.fetcher.work_was_enqueued_here()
        for word in words - {"work"}:
            self._act_on(word)
        self.hints.send(words)

    async def run_forever(self) -> None:
        """Claim and run until stopped; returns when what was claimed has ended."""
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(part.run_forever())
                for part in (self.keeper, self.hints, self._ground.expiry)
            ]
            try:
                await self.fetcher.run_forever()
            finally:
                await self._ground.close()
            await self.hints.say_the_last(LAST_HINT_WITHIN_S)
            for task in beside:
                task.cancel()

    async def stop(self, budget_s: float) -> None:
        """Claim no more; give back, uncharged, what has not ended within the budget."""
        await self.fetcher.stop(budget_s)

    def _deeds(self) -> Deeds:
        return Deeds(
            claim=self._claim,
            start=self.runner.start,
            drop_all=self.runner.drop_all,
            end_overdue=self._ground.end_overdue,
            let_in_parked=self._ground.let_in_parked,
            release_all=lambda: self.keeper.abandon_all(Abandoned.RELEASED),
            is_hearing=lambda: self.hints.is_connected,
        )

    async def _claim(self, offers: Mapping[str, Offer]) -> Claimed:
        found = await self._ground.claim(offers)
        if found.leases:
            self._options.failpoint(Place.AFTER_CLAIM)
        return found

    def _observe(self, ended: AttemptEnded) -> None:
        if ended.outcome is Outcome.LOST:
            self._options.tally.leases_lost += 1
        self._options.observe(ended)

    def _on_word(self, word: str) -> None:
        if word == "work":
            self.fetcher.wake()
        else:
            self._act_on(word)

    def _act_on(self, word: str) -> None:
        if word == "cancel":
            self.keeper.look_now()
        if word == "consumers":
            self._options.on_consumers_word()


def ground_on(db: Database, kinds: JobKinds, options: ConsumerOptions) -> DatabaseGround:
    """Return the way to the queue's tables in this database."""
    settler = Settler(
        db,
        kinds,
        options.clock,
        draw=options.draw,
        failpoint=options.failpoint,
        tally=options.tally,
    )
    return DatabaseGround(
        db,
        kinds,
        consumer_id=options.consumer_id,
        times=options.times,
        settler=settler,
        tally=options.tally,
        expiry=ExpiryTimer(
            db, kinds, options.clock, options.draw, options.also_expire, options.tally
        ),
    )
