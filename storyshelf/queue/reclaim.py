"""At boot, what dead consumers of this machine held is free at once, and not a lease later."""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.expiry import AT_ONCE, end_overdue
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import Consumer, dead
from storyshelf.queue.tally import Tally

log = structlog.get_logger(__name__)

IsGone = Callable[[int, int], bool]  # the process of this id that started then, in ticks


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Looks for dead consumers beside this one; a living one is never touched."""

    db: Database
    kinds: JobKinds
    own: Consumer
    is_gone: IsGone
    tally: Tally = field(default_factory=Tally)

    async def run_once(self) -> int:
        """Free the jobs of each dead sibling and forget it; return how many siblings that were.

        An attempt that was cut off so is lost, and stays charged: the job may be what killed it.
        """
        async with self.db.transaction() as tx:
            known = await dead.siblings(tx, self.own.machine, self.own.id)
        gone = [each for each in known if self.is_gone(each.pid, each.process_started)]
        for each in gone:
            await self._bury(each)
        if gone:
            await end_overdue(self.db, self.kinds, self.tally)
        return len(gone)

    async def run_guarded(self) -> None:
        """Do so in the background of a boot: what fails here, the leases' end does later."""
        try:
            await self.run_once()
        except Exception as error:  # noqa: BLE001  # nothing waits for it
            log.warning("reclaim.failed", error=repr(error))

    async def _bury(self, sibling: dead.Sibling) -> None:
        async with self.db.transaction() as tx:
            jobs = await dead.free_leases(tx, sibling.id)
            given_back = await store.requeue_expired(tx, limit=AT_ONCE)
            await store.remove_consumer(tx, sibling.id)
        self.tally.taken_over += len(given_back)
        log.info("consumer.buried", consumer=sibling.id, jobs=jobs)
