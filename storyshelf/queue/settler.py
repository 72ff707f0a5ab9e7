"""Settles ended attempts: effects and the job's end in one transaction, or nothing."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.deadline import stop, within
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.gathering import Gathering
from storyshelf.queue.job import Completed, Ending, Lease, Outcome
from storyshelf.queue.job_kind import JobKind, JobKinds, Settled, Settling
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.outage import may_pass, was_too_slow
from storyshelf.queue.tally import Tally
from storyshelf.queue.words import words_of

FIRST_WAIT_S = 0.25
WAIT_CEILING_S = 4.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt that has ended; `kind` is None where this process does not know it."""

    hold: Hold
    kind: JobKind | None
    ending: Ending
    parsed: Any = None

    @property
    def lease(self) -> Lease:
        """The lease the attempt was made under."""
        return self.hold.lease


Told = Callable[[Outcome | None], None]  # what became of a job; None: that is not ours to say
Waiting = tuple[Attempted, Told]


class Settler:
    """Settles one by one, or together what gathered while the last settle of its kind ran.

    Only completed attempts of a kind that allows it share a transaction. A shared one touches
    shards and builds of one kind in one pass, and so keeps the lock order.
    """

    def __init__(  # noqa: PLR0913  # parts that are put together in one place
        self,
        db: Database,
        kinds: JobKinds,
        clock: Clock,
        *,
        draw: Callable[[], float],
        failpoint: Failpoint = no_failpoint,
        tally: Tally | None = None,
    ) -> None:
        self._line = db.line()
        self._tally = tally or Tally()
        self._db = db
        self._kinds = kinds
        self._clock = clock
        self._draw = draw
        self._failpoint = failpoint
        self._gatherings: dict[str, Gathering[Waiting]] = defaultdict(
            lambda: Gathering(self._settle_together)
        )
        self._alone: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop what is under way, and hang up; what is settled later opens the line again."""
        together = {each.task for each in self._gatherings.values()}
        for task in [*self._alone, *together]:
            if task is not None:
                await stop(self._clock, task)
        await self._line.close()

    def settle(self, attempted: Attempted, told: Told) -> None:
        """End the attempt; `told` is called with what became of the job.

        It is called with None when the lease was lost, when the database stayed away for as long
        as the lease could be trusted, or when nobody here can end the job. In each case the lease
        runs out and the job is delivered again.
        """
        kind = attempted.kind
        is_shared = kind is not None and kind.settling is Settling.TOGETHER
        if kind is not None and is_shared and isinstance(attempted.ending, Completed):
            self._gatherings[kind.name].add((attempted, told))
            return
        task = asyncio.create_task(self._settle_together([(attempted, told)]))
        self._alone.add(task)
        task.add_done_callback(self._alone.discard)

    async def _settle_together(self, waiting: Sequence[Waiting]) -> None:
        batch = [attempted for attempted, _ in waiting]
        try:
            outcomes = await self._settle_newest(batch)
        except Exception:  # a fault of ours: the jobs are delivered again
            log.exception("job.unsettled", jobs=[each.lease.job_id for each in batch])
            outcomes = [None] * len(batch)
        for (_, told), outcome in zip(waiting, outcomes, strict=True):
            told(outcome)

    async def _settle_newest(self, batch: Sequence[Attempted]) -> list[Outcome | None]:
        """Settle the newest attempt at each job; an older one in the same batch is lost.

        A process may hold a job twice, under a lease that ran out and the one it has claimed since.
        """
        newest = {
            each.lease.job_id: each for each in sorted(batch, key=lambda one: one.lease.attempt)
        }
        ended = dict(zip(newest, await self._settle_all(tuple(newest.values())), strict=True))
        self._tally.settles_refused += len(batch) - len(newest)
        return [
            ended[each.lease.job_id] if newest[each.lease.job_id] is each else None
            for each in batch
        ]

    async def _settle_all(self, batch: Sequence[Attempted]) -> list[Outcome | None]:
        try:
            outcomes = await self._while_trusted(batch)
        except Exception as error:  # noqa: BLE001  # a failing `apply` is data from here on
            if len(batch) == 1:
                return [await self._after_failure(batch[0], error)]
            log.warning("settle.batch_failed", jobs=len(batch), error=repr(error))
            return [(await self._settle_all([one]))[0] for one in batch]
        return [outcomes.get(each.lease.job_id) for each in batch]

    async def _after_failure(self, attempted: Attempted, error: Exception) -> Outcome | None:
        """Treat an `apply` that failed as a failure of the attempt; a failing `ended` is left."""
        if attempted.kind is not None and isinstance(attempted.ending, Completed):
            ending = failure(attempted.kind, attempted.hold, words_of(error), self._draw)
            return (await self._settle_all([replace(attempted, ending=ending)]))[0]
        log.error(  # the error is data, one line
            "job.unendable",
            job=attempted.lease.job_id,
            kind=attempted.lease.kind,
            error=repr(error),
        )
        return None

    async def _while_trusted(self, batch: Sequence[Attempted]) -> Mapping[JobId, Outcome]:
        wait_s = FIRST_WAIT_S
        trusted = self._trusted_in(0.0, batch)
        while trusted:
            try:
                return await within(self._clock, self._trusted_s(trusted), self._transact(trusted))
            except Exception as error:
                if not may_pass(error) or (len(batch) > 1 and was_too_slow(error)):
                    raise  # a large batch that takes too long takes as long the next time
                log.info("settle.waits", jobs=len(trusted), error=repr(error), again_in_s=wait_s)
            trusted = self._trusted_in(wait_s, trusted)
            if trusted:
                await self._clock.sleep(wait_s)
            wait_s = min(2 * wait_s, WAIT_CEILING_S)
        return {}

    def _trusted_in(self, wait_s: float, batch: Sequence[Attempted]) -> list[Attempted]:
        """Return those whose lease is ours for longer; the others are left, each by itself."""
        late = {id(each) for each in batch if self._trusted_s([each]) <= wait_s}
        if late:
            jobs = [each.lease.job_id for each in batch if id(each) in late]
            log.warning("settle.left", jobs=jobs)
        return [each for each in batch if id(each) not in late]

    def _trusted_s(self, batch: Sequence[Attempted]) -> float:
        return min(each.hold.trusted_until for each in batch) - self._clock.monotonic()

    async def _transact(self, batch: Sequence[Attempted]) -> Mapping[JobId, Outcome]:
        self._failpoint(Place.BEFORE_SETTLE)
        endings = [(each.lease, each.ending) for each in batch]
        if all(_is_whole_by_itself(each) for each in batch):
            settled = await store.settle(self._line, endings)
        else:
            async with self._db.transaction() as tx:
                settled = await store.settle(tx, endings)
                await self._tell_kinds(tx, batch, settled)
        self._failpoint(Place.AFTER_SETTLE)
        outcomes = {each.job.job_id: each.outcome for each in settled}
        unmatched = [each.lease for each in batch if each.lease.job_id not in outcomes]
        before = await self._settled_before(unmatched)
        self._tally.settle_batches += 1
        self._tally.settled += len(outcomes)
        self._tally.settles_refused += len(unmatched) - len(before)
        return {**outcomes, **before}

    async def _tell_kinds(
        self, tx: Tx, batch: Sequence[Attempted], settled: Sequence[store.SettledJob]
    ) -> None:
        by_id = {each.lease.job_id: each for each in batch}
        completed = [
            by_id[each.job.job_id] for each in settled if each.outcome is Outcome.COMPLETED
        ]
        await apply(tx, completed)
        for each in settled:
            if each.outcome is Outcome.COMPLETED or each.goes_back:
                continue
            if by_id[each.job.job_id].kind is None:
                log.error("job.unknown_kind", job=each.job.job_id, kind=each.job.kind)
            else:
                await self._kinds.ended(tx, [each.job], each.outcome, each.error)

    async def _settled_before(self, leases: Sequence[Lease]) -> Mapping[JobId, Outcome]:
        """Recognise settles that went through though their answer never came."""
        if not leases:
            return {}
        async with self._db.transaction() as tx:
            return await store.settled_before(tx, leases)


def _is_whole_by_itself(attempted: Attempted) -> bool:
    """Say whether the settling statement is all that there is to do."""
    is_completed = isinstance(attempted.ending, Completed)
    return attempted.kind is not None and attempted.kind.apply is None and is_completed


async def apply(tx: Tx, completed: Sequence[Attempted]) -> None:
    """Write the effects of completed attempts, kinds in order of name."""
    by_kind: dict[str, list[Attempted]] = defaultdict(list)
    for each in completed:
        by_kind[each.lease.kind].append(each)
    for _, attempts in sorted(by_kind.items()):
        kind = attempts[0].kind
        assert kind is not None, "only a known kind completes"
        if kind.apply is not None:
            await kind.apply(tx, [_settled(each) for each in attempts])


def failure(kind: JobKind, hold: Hold, error: str, draw: Callable[[], float]) -> Ending:
    """Return what follows a failed attempt; one that recorded results is not counted."""
    charged = hold.lease.charged - (1 if hold.has_recorded else 0)
    return kind.retry.after_failure(charged, hold.lease.max_attempts, error, draw)


def _settled(attempted: Attempted) -> Settled:
    ending = attempted.ending
    assert isinstance(ending, Completed), "the statement completes only what was said to be"
    return Settled(attempted.lease, attempted.parsed, ending.result)
