"""Ends or gives back the jobs whose lease ran out, in every process, slots free or not."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.ids import JobId
from storyshelf.queue import store
from storyshelf.queue.job_kind import JobKinds

EVERY_S = 30.0
STRETCH = 0.2
AT_ONCE = 100  # jobs of one pass; the rest waits for the next, a lease is over anyway

log = structlog.get_logger(__name__)


async def requeue_expired(db: Database) -> int:
    """Put jobs back on their lanes whose lease ran out with attempts left."""
    async with db.transaction() as tx:
        ids = await store.requeue_expired(tx, limit=AT_ONCE)
    for job_id in ids:
        log.info("job.reclaimed", job=job_id)
    return len(ids)


async def end_overdue(db: Database, kinds: JobKinds) -> int:
    """End jobs whose lease ran out for the last time, or that were to be cancelled.

    All in one transaction; when that fails, one by one, so that a job that nobody here can end
    does not keep the others.
    """
    async with db.transaction() as tx:
        ids = await store.overdue_jobs(tx, limit=AT_ONCE)
    if not ids:
        return 0
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


@dataclass(frozen=True, slots=True)
class ExpiryTimer:
    """The pass on its own timer; `also` is what other packages end on the same one."""

    db: Database
    kinds: JobKinds
    clock: Clock
    draw: Callable[[], float]
    also: Sequence[Callable[[], Awaitable[object]]] = ()

    async def run_forever(self) -> None:
        """Make a pass at once, as a boot follows a death, and then every half minute."""
        while True:
            await self.run_once()
            await self.clock.sleep(EVERY_S * (1 + STRETCH * self.draw()))

    async def run_once(self) -> None:
        """Make one pass; a part that fails is logged and does not keep the others."""
        parts = (self._requeue, self._end, *self.also)
        for part in parts:
            try:
                await part()
            except Exception as error:  # noqa: BLE001  # the next pass tries again
                log.warning("expiry.failed", error=repr(error))

    async def _requeue(self) -> None:
        await requeue_expired(self.db)

    async def _end(self) -> None:
        await end_overdue(self.db, self.kinds)
