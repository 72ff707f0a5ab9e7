"""One attempt, from a lease to its settle: a pipeline in which every failure becomes an ending."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.deadline import stop, within
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.job import (
    Completed,
    Ending,
    Failed,
    Lease,
    LeaseLostError,
    MalformedPayloadError,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.queue.job_kind import JobKind, JobKinds
from storyshelf.queue.lease_keeper import Abandoned, Hold, LeaseKeeper
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler, failure
from storyshelf.queue.store.cancel import CANCELLED_ON_REQUEST
from storyshelf.queue.words import words_of

log = structlog.get_logger(__name__)
Renew = Callable[[Tx, Lease, timedelta], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AttemptWork:
    """What a handler may ask of its attempt; see `job_kind.Work`."""

    hold: Hold
    db: Database
    clock: Clock
    times: LeaseTimes
    failpoint: Failpoint

    @property
    def lease(self) -> Lease:
        """See Work."""
        return self.hold.lease

    def touch(self) -> None:
        """See Work."""
        self.hold.touched = True

    async def record(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        """See Work."""
        await self._fenced(store.renew_for_write, write)
        self.hold.has_recorded = True
        self.failpoint(Place.AFTER_PROGRESS)

    async def note(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        """See Work."""
        await self._fenced(store.renew_for_note, write)

    async def _fenced(self, renew: Renew, write: Callable[[Tx], Awaitable[None]]) -> None:
        if self.hold.why is not None:
            raise LeaseLostError(self.lease.job_id, self.lease.attempt)
        sent_at = self.clock.monotonic()
        async with self.db.transaction() as tx:
            await renew(tx, self.lease, self.times.lease_for)
            await write(tx)
        self.hold.renewed(sent_at)


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Runs attempts of every kind this process knows; `run` raises nothing."""

    db: Database
    kinds: JobKinds
    keeper: LeaseKeeper
    settler: Settler
    clock: Clock
    draw: Callable[[], float]
    times: LeaseTimes
    failpoint: Failpoint = no_failpoint

    async def run(self, lease: Lease, sent_at: float) -> None:
        """Make the attempt and settle it; when this returns, nothing of it works any more."""
        hold = self.keeper.hold(lease, sent_at)
        started = self.clock.monotonic()
        said = log.bind(job=lease.job_id, kind=lease.kind, attempt=lease.attempt)
        said.info("job.started", lane=lease.lane, build=lease.build_id)
        try:
            outcome = await self._attempt_and_settle(hold)
            took_ms = round(1000 * (self.clock.monotonic() - started))
            said.info("job.ended", outcome=(outcome or Outcome.LOST).value, took_ms=took_ms)
        except Exception:  # noqa: BLE001  # the lease runs out, and the job is delivered again
            said.exception("job.unsettled")
        finally:
            self.keeper.forget(hold)

    async def _attempt_and_settle(self, hold: Hold) -> Outcome | None:
        kind = self.kinds.find(hold.lease.kind)
        if kind is None or kind.handle is None:
            ending = Failed(f"No handler for {hold.lease.kind} jobs here", Outcome.UNHANDLED)
            return await self.settler.settle(Attempted(hold, kind, ending))
        try:
            parsed = kind.parse(hold.lease.payload)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with it, no retry mends it
            ending = Failed(words_of(error), Outcome.DROPPED)
            return await self.settler.settle(Attempted(hold, kind, ending))
        found = await self._handle(kind, hold, parsed)
        if found is None:
            return None
        return await self.settler.settle(Attempted(hold, kind, found, parsed))

    async def _handle(self, kind: JobKind, hold: Hold, parsed: Any) -> Ending | None:
        """Race the handler against the lease; None when the lease was lost."""
        assert kind.handle is not None, "checked by the caller"
        work = AttemptWork(hold, self.db, self.clock, self.times, self.failpoint)
        handling = asyncio.ensure_future(kind.handle(work, parsed))
        watching = asyncio.ensure_future(hold.over.wait())
        try:
            await asyncio.wait({handling, watching}, return_when=asyncio.FIRST_COMPLETED)
            if handling.done():
                return self._ending(kind, hold, handling)
            await self._stop(kind, parsed, handling)
            return _ending_when_abandoned(hold)
        finally:
            watching.cancel()
            await stop(self.clock, handling, self.times.stop_within_s)

    async def _stop(self, kind: JobKind, parsed: Any, handling: "asyncio.Future[Any]") -> None:
        try:
            await within(self.clock, self.times.cancel_within_s, _awaited(kind.cancel(parsed)))
        except Exception as error:  # noqa: BLE001  # the handler is cancelled all the same
            log.warning("job.cancel_failed", kind=kind.name, error=repr(error))
        if not await stop(self.clock, handling, self.times.stop_within_s):
            log.error("job.will_not_stop", kind=kind.name)

    def _ending(self, kind: JobKind, hold: Hold, handling: "asyncio.Future[Any]") -> Ending | None:
        if handling.cancelled():
            return failure(kind, hold, "The handler cancelled itself", self.draw)
        match handling.exception():
            case None:
                return _ending_of_result(handling.result())
            case LeaseLostError():
                return _ending_when_abandoned(hold)
            case MalformedPayloadError() as error:
                return Failed(words_of(error), Outcome.DROPPED)
            case error:
                log.warning("job.failed", job=hold.lease.job_id, kind=kind.name, exc_info=error)
                return failure(kind, hold, words_of(error), self.draw)


def _ending_of_result(result: Any) -> Ending:
    """Let a handler return an ending of its own; anything else is a result for `apply`."""
    if isinstance(result, Completed | Retried | Requeued | Failed):
        return result
    return Completed(result)


def _ending_when_abandoned(hold: Hold) -> Ending | None:
    match hold.why:
        case Abandoned.CANCELLED:
            return Failed(CANCELLED_ON_REQUEST, Outcome.CANCELLED)
        case Abandoned.RELEASED:
            return Requeued("The consumer was stopped")
        case Abandoned.LOST | None:
            return None


async def _awaited(work: Awaitable[None]) -> None:
    await work
