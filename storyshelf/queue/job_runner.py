"""One attempt, from a lease to its settle: steps in a row, where every failure is an ending.

A task costs as much as all the rest that is done for a small job. So the handler has one, and so
has whatever must be waited for when something goes wrong; one step has the next called back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import structlog
from structlog.contextvars import bind_contextvars

from storyshelf.clock import Clock
from storyshelf.db.engine import Tx
from storyshelf.queue import store
from storyshelf.queue.deadline import stop, within
from storyshelf.queue.failpoint import Failpoint, Place, no_failpoint
from storyshelf.queue.job import (
    AttemptEnded,
    Completed,
    Crashed,
    Ending,
    Failed,
    Lease,
    LeaseLostError,
    MalformedPayloadError,
    Outcome,
    Requeued,
    Retried,
)
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.lease_keeper import Abandoned, Hold, LeaseKeeper, nothing_to_stop
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.phases import Phases
from storyshelf.queue.settler import Attempted, Told, failure
from storyshelf.queue.slots import Slot
from storyshelf.queue.store.cancel import CANCELLED_ON_REQUEST
from storyshelf.queue.words import words_of

log = structlog.get_logger(__name__)
Renew = Callable[[Tx, Lease, timedelta], Awaitable[None]]
QUICK_MS = 1_000
Observe = Callable[[AttemptEnded], None]
T = TypeVar("T")


def unobserved(_ended: AttemptEnded) -> None:
    """Count nothing."""


class Transacts(Protocol):
    """What a handler's records are written through."""

    def transaction(self) -> AbstractAsyncContextManager[Tx]:
        """Open a transaction."""
        ...


class Settles(Protocol):
    """Who ends attempts."""

    def settle(self, attempted: Attempted, told: Told) -> None:
        """End the attempt, and tell, in a later turn of the loop, what became of the job."""
        ...


@dataclass(frozen=True, slots=True)
class AttemptWork:
    """What a handler may ask of its attempt; see `job_kind.Work`."""

    hold: Hold
    db: Transacts
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
    """Makes attempts of every kind this process knows."""

    db: Transacts
    kinds: JobKinds
    keeper: LeaseKeeper
    settler: Settles
    clock: Clock
    draw: Callable[[], float]
    times: LeaseTimes
    failpoint: Failpoint = no_failpoint
    observe: Observe = unobserved
    under_way: set["Attempt"] = field(default_factory=set)

    def start(self, lease: Lease, sent_at: float, slot: Slot) -> None:
        """Begin an attempt, which goes on by itself and raises nothing.

        `sent_at` is when the claim was sent, on the monotonic clock.
        """
        attempt = Attempt(self, lease, sent_at, slot)
        self.under_way.add(attempt)
        attempt.begin()

    async def drop_all(self) -> None:
        """Stop what works, boundedly, and settle nothing more: the process is being ended."""
        dropped = [attempt.drop() for attempt in self.under_way]
        self.under_way.clear()
        tasks = [task for tasks in dropped for task in tasks]
        await asyncio.gather(*(stop(self.clock, task, self.times.stop_within_s) for task in tasks))


P = ParamSpec("P")
Step = Callable[Concatenate["Attempt", P], None]


def guarded(step: Step[P]) -> Step[P]:
    """Have a step that fails leave the job: its lease runs out, and it is delivered again."""

    def guard(self: "Attempt", /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            step(self, *args, **kwargs)
        except Exception:
            log.exception("job.unsettled", **_names_of(self._hold.lease))
            self.end()

    return guard


class Attempt:
    """One try at a job: accept, handle, settle, tell."""

    def __init__(self, runner: JobRunner, lease: Lease, sent_at: float, slot: Slot) -> None:
        self._runner = runner
        self._kind = runner.kinds.find(lease.kind)
        self._hold = Hold(lease, sent_at, runner.times, self._abandoned)
        self._slot: Slot | None = slot
        self._phases = Phases(runner.clock)
        self._context = _context_of(lease)
        self._parsed: Any = None
        self._handling: asyncio.Task[Any] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._is_dropped = False

    @guarded
    def begin(self) -> None:
        """Accept the job and have it handled; what cannot be accepted is settled at once."""
        kind = self._kind
        if kind is None or kind.handle is None:
            refusal = f"No handler for {self._hold.lease.kind} jobs here"
            self._context.run(self._conclude, Failed(refusal, Outcome.UNHANDLED))
            return
        try:
            self._parsed = kind.parse(self._hold.lease.payload)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with it, no retry mends it
            self._context.run(self._conclude, Failed(words_of(error), Outcome.DROPPED))
            return
        runner = self._runner
        work = AttemptWork(self._hold, runner.db, runner.clock, runner.times, runner.failpoint)
        self._handling = self._task(kind.handle(work, self._parsed))
        self._handling.add_done_callback(self._handled, context=self._context)
        runner.keeper.keep(self._hold)

    def drop(self) -> list["asyncio.Task[Any]"]:
        """Leave it as it is; return what still works for it."""
        self._is_dropped = True
        self._let_go_of_lease()
        return [task for task in (self._stopping, self._handling) if task is not None]

    def end(self) -> None:
        """Let go of all that the attempt had; harmless when repeated."""
        self._let_go_of_lease()
        self._runner.under_way.discard(self)
        slot, self._slot = self._slot, None
        if slot is not None:
            slot.end()

    @guarded
    def _handled(self, handling: "asyncio.Task[Any]") -> None:
        if not self._is_dropped and self._stopping is None:
            self._conclude(self._ending(handling))

    @guarded
    def _abandoned(self) -> None:
        """Have the handler stopped, unless it has ended and only was not heard of yet."""
        if self._handling is not None and not self._handling.done():
            self._stopping = self._task(self._stop(self._handling))
            self._stopping.add_done_callback(self._stopped, context=self._context)

    async def _stop(self, handling: "asyncio.Task[Any]") -> None:
        assert self._kind is not None, "it is being handled"
        clock, times = self._runner.clock, self._runner.times
        try:
            await within(clock, times.cancel_within_s, _awaited(self._kind.cancel(self._parsed)))
        except Exception as error:  # noqa: BLE001  # the handler is cancelled all the same
            log.warning("job.cancel_failed", error=repr(error))
        if not await stop(clock, handling, times.stop_within_s):
            log.error("job.will_not_stop")

    @guarded
    def _stopped(self, stopping: "asyncio.Task[None]") -> None:
        if not self._is_dropped:
            stopping.result()
            self._conclude(_ending_when_abandoned(self._hold))

    def _ending(self, handling: "asyncio.Task[Any]") -> Ending | None:
        kind, draw = self._kind, self._runner.draw
        assert kind is not None, "it was handled"
        if handling.cancelled():
            return failure(kind, self._hold, "The handler cancelled itself", draw)
        match handling.exception():
            case None:
                return _ending_of_result(handling.result())
            case LeaseLostError():
                return _ending_when_abandoned(self._hold)
            case MalformedPayloadError() as error:
                return Failed(words_of(error), Outcome.DROPPED)
            case error:
                log.warning("job.failed", exc_info=error)
                return failure(kind, self._hold, words_of(error), draw)

    def _let_go_of_lease(self) -> None:
        """Hear of it no more, nor from the keeper's look that is under way."""
        self._runner.keeper.forget(self._hold)
        self._hold.on_over = nothing_to_stop

    def _conclude(self, ending: Ending | None) -> None:
        """Free the slot and have the attempt settled; None when the lease was lost."""
        self._let_go_of_lease()
        self._phases.end("handle")
        if self._slot is not None:
            self._slot.free()
        if ending is None:
            self._settled(None)
            return
        attempted = Attempted(self._hold, self._kind, ending, self._parsed)
        self._runner.settler.settle(attempted, self._told)

    def _told(self, outcome: Outcome | None) -> None:
        if not self._is_dropped:
            self._context.run(self._settled, outcome)

    @guarded
    def _settled(self, outcome: Outcome | None) -> None:
        """Tell what became of the job; lost is what is not ours to say."""
        self._phases.end("settle")
        self._tell(outcome or Outcome.LOST)
        self.end()

    def _tell(self, outcome: Outcome) -> None:
        lease, phases = self._hold.lease, self._phases
        ended = AttemptEnded(
            kind=lease.kind,
            lane=lease.lane,
            outcome=outcome,
            attempt=lease.attempt,
            waited_ms=lease.waited_ms,
            ran_ms=phases.total_ms,
            phases_ms=phases.taken_ms,
        )
        # A line for each of thousands that went well in no time says less than the figures do.
        if outcome is not Outcome.COMPLETED or ended.ran_ms >= QUICK_MS:
            log.info(
                "job.ended",
                outcome=outcome.value,
                took_ms=ended.ran_ms,
                waited_ms=ended.waited_ms,
                phases_ms=dict(ended.phases_ms),
            )
        self._runner.observe(ended)

    def _task(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        return asyncio.get_running_loop().create_task(work, context=self._context)


def _context_of(lease: Lease) -> Context:
    """Return where every line that is logged says what attempt it is of."""
    context = copy_context()
    context.run(bind_contextvars, **_names_of(lease))
    return context


def _names_of(lease: Lease) -> dict[str, object]:
    """Return what every line that is logged in the attempt is found by."""
    names = {
        "job": lease.job_id,
        "kind": lease.kind,
        "attempt": lease.attempt,
        "build": lease.build_id,
        "request": lease.trace.request_id,
        "traceparent": lease.trace.traceparent,
    }
    return {name: value for name, value in names.items() if value is not None}


def _ending_of_result(result: Any) -> Ending:
    """Let a handler return an ending of its own; anything else is a result for `apply`."""
    if isinstance(result, Completed | Retried | Requeued | Failed | Crashed):
        return result
    return Completed(result)


def _ending_when_abandoned(hold: Hold) -> Ending | None:
    match hold.why:
        case Abandoned.CANCELLED:
            return Failed(CANCELLED_ON_REQUEST, Outcome.CANCELLED)
        case Abandoned.RELEASED:
            return Requeued("It was given back: somebody asked for it, or its consumer stopped")
        case Abandoned.LOST | None:
            return None


async def _awaited(work: Awaitable[None]) -> None:
    await work
