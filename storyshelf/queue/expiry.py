"""Ends or gives back the jobs whose lease ran out, in every process, slots free or not."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import dead
from storyshelf.queue.tally import Tally

EVERY_S = 30.0
STRETCH = 0.2
AT_ONCE = 100  # jobs of one pass; the rest waits for the next, a lease is over anyway

log = structlog.get_logger(__name__)


async def requeue_expired(db: Database, tally: Tally | None = None) -> int:
    """Put jobs back on their lanes whose lease ran out with attempts left."""
    async with db.transaction() as tx:
        ids = await store.requeue_expired(tx, limit=AT_ONCE)
    for job_id in ids:
        log.info("job.reclaimed", job=job_id)
    if tally is not None:
        tally.taken_over += len(ids)
    return len(ids)


async def end_overdue(db: Database, kinds: JobKinds, tally: Tally | None = None) -> int:
    """End jobs whose lease ran out for the last time, or that were to be cancelled.

    Those of one kind and outcome in one transaction: `ended` is told of all of them at once, and a
    second time would lock their shards and builds out of order. When that fails, one by one, so
    that a job that nobody here can end does not keep the others.
    """
    async with db.transaction() as tx:
        ids = await store.overdue_jobs(tx, limit=AT_ONCE)
        groups = await store.alike(tx, ids) if ids else ()
    ended = sum([await _end_all(db, kinds, group) for group in groups])
    if tally is not None:
        tally.expired_at_last += ended
    return ended


async def _end_all(db: Database, kinds: JobKinds, ids: Sequence[JobId]) -> int:
    try:
        return await _end(db, kinds, ids)
    except Exception as error:  # noqa: BLE001  # told apart job by job below
        log.warning("expiry.batch_failed", jobs=len(ids), error=repr(error))
    return sum([await _end_alone(db, kinds, job_id) for job_id in ids])


async def _end(db: Database, kinds: JobKinds, ids: Sequence[JobId]) -> int:
    async with db.transaction() as tx:
        ended = await store.end_overdue(tx, ids)
        for outcome, error in sorted({(each.outcome, each.error) for each in ended}):
            jobs = [each.job for each in ended if (each.outcome, each.error) == (outcome, error)]
            await kinds.ended(tx, jobs, outcome, error)
    for each in ended:
        log.info("job.expired", job=each.job.job_id, kind=each.job.kind, outcome=each.outcome.value)
    return len(ended)


async def _end_alone(db: Database, kinds: JobKinds, job_id: JobId) -> int:
    try:
        return await _end(db, kinds, [job_id])
    except Exception as error:  # noqa: BLE001  # one job that cannot be ended must not keep others
        log.error("job.unendable", job=job_id, error=repr(error))  # noqa: TRY400  # one line a pass
        return 0


Act = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Chore:
    """Something that the timer ends; `look` says by what it returns whether there is any of it.

    All looks of a pass share one transaction, so that a system without work is quiet. They lock
    nothing; `act` has transactions of its own.
    """

    look: Callable[[Tx], Awaitable[object]]
    act: Act

    async def __call__(self) -> object:
        """Act without looking."""
        return await self.act()


@dataclass(frozen=True, slots=True)
class ExpiryTimer:
    """The pass on its own timer; `also` is what other packages end on the same one."""

    db: Database
    kinds: JobKinds
    clock: Clock
    draw: Callable[[], float]
    also: Sequence[Act] = ()  # of which a Chore is done only when there is something to do
    tally: Tally = field(default_factory=Tally)

    async def run_forever(self) -> None:
        """Make a pass at once, as a boot follows a death, and then every half minute."""
        while True:
            await self.run_once()
            await self.clock.sleep(EVERY_S * (1 + STRETCH * self.draw()))

    async def run_once(self) -> None:
        """Make one pass; a part that fails is logged and does not keep the others."""
        for act in await self._due([Chore(dead.any_expired, self._end_expired), *self.also]):
            try:
                await act()
            except Exception as error:  # noqa: BLE001  # the next pass tries again
                log.warning("expiry.failed", error=repr(error))

    async def _due(self, acts: Sequence[Act]) -> Sequence[Act]:
        """Return what is to be done: all of it if that cannot be found out."""
        chores = [act for act in acts if isinstance(act, Chore)]
        try:
            async with self.db.transaction() as tx:
                idle = {id(chore) for chore in chores if not await chore.look(tx)}
        except Exception as error:  # noqa: BLE001  # one look that fails must not hide the others
            log.warning("expiry.look_failed", error=repr(error))
            return acts
        return [act for act in acts if id(act) not in idle]

    async def _end_expired(self) -> None:
        await requeue_expired(self.db, self.tally)
        await end_overdue(self.db, self.kinds, self.tally)
