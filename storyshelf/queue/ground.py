"""All that a consumer's side asks of the database, behind one protocol: a test may answer it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from storyshelf.db.engine import Announce, Database, Tx
from storyshelf.ids import ConsumerId
from storyshelf.queue import store
from storyshelf.queue.expiry import end_overdue
from storyshelf.queue.job import Claimed, Lease
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler, Told
from storyshelf.queue.slots import Offer
from storyshelf.queue.store import Standing
from storyshelf.queue.tally import Tally
from storyshelf.queue.wakeup import HintConnection


class RunsForever(Protocol):
    """Work beside the claims."""

    async def run_forever(self) -> None:
        """Run until cancelled."""
        ...


class Ground(Protocol):
    """The way to the queue's tables; what each of these does is done whole, or not at all."""

    @property
    def expiry(self) -> RunsForever:
        """What ends or gives back jobs whose leases ran out, on a timer of its own."""
        ...

    def tell(self, announce: Announce) -> None:
        """Have it called with the words of each commit of this process."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Tx]:
        """Open a transaction for what a handler records."""
        ...

    async def claim(self, offers: Mapping[str, Offer]) -> Claimed:
        """Take jobs for the places."""
        ...

    async def ask(self, due: Sequence[Lease], others: Sequence[Lease]) -> Sequence[Standing]:
        """Renew the leases that are due and look at the others; the missing ones are lost."""
        ...

    def settle(self, attempted: Attempted, told: Told) -> None:
        """End an attempt, and tell, in a later turn of the loop, what became of the job."""
        ...

    async def end_overdue(self) -> int:
        """End jobs whose last lease ran out."""
        ...

    async def let_in_parked(self) -> int:
        """Queue what the caps allow."""
        ...

    async def hint_connection(self) -> HintConnection:
        """Connect for hints."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...


class DatabaseGround:
    """The real one."""

    def __init__(  # noqa: PLR0913  # parts that are put together in one place
        self,
        db: Database,
        kinds: JobKinds,
        *,
        consumer_id: ConsumerId,
        times: LeaseTimes,
        settler: Settler,
        expiry: RunsForever,
        tally: Tally | None = None,
    ) -> None:
        self._tally = tally
        self.expiry = expiry
        self._db = db
        self._kinds = kinds
        self._consumer_id = consumer_id
        self._times = times
        self._settler = settler
        self._claims = db.line()
        self._handled = [kind.name for kind in kinds.handled()]

    def tell(self, announce: Announce) -> None:
        """See Ground."""
        self._db.announce = announce

    def transaction(self) -> AbstractAsyncContextManager[Tx]:
        """See Ground."""
        return self._db.transaction()

    async def claim(self, offers: Mapping[str, Offer]) -> Claimed:
        """See Ground."""
        return await store.claim(
            self._claims, self._consumer_id, offers, self._times.lease_for, self._handled
        )

    async def ask(self, due: Sequence[Lease], others: Sequence[Lease]) -> Sequence[Standing]:
        """See Ground."""
        async with self._db.transaction() as tx:
            renewed = await store.renew(tx, due, self._times.lease_for)
            return *renewed, *await store.check(tx, others)

    def settle(self, attempted: Attempted, told: Told) -> None:
        """See Ground."""
        self._settler.settle(attempted, told)

    async def end_overdue(self) -> int:
        """See Ground."""
        return await end_overdue(self._db, self._kinds, self._tally)

    async def let_in_parked(self) -> int:
        """See Ground."""
        async with self._db.transaction() as tx:
            return await store.let_in_parked(tx)

    async def hint_connection(self) -> HintConnection:
        """See Ground."""
        return await self._db.direct_connection()

    async def close(self) -> None:
        """See Ground."""
        await self._claims.close()
        await self._settler.close()
