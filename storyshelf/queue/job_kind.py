"""A job kind: everything the queue needs to know about one sort of work."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from storyshelf.db.engine import Tx
from storyshelf.errors import StoryshelfError
from storyshelf.queue.job import EndedJob, Lease, Outcome, Payload
from storyshelf.queue.retry import RetryPolicy


class Settling(StrEnum):
    """Whether attempts of a kind may share a settling transaction."""

    ALONE = "alone"
    TOGETHER = "together"


class Work(Protocol):
    """What a handler may ask of the attempt it is part of."""

    @property
    def lease(self) -> Lease:
        """Return the lease that the attempt holds."""
        ...

    def touch(self) -> None:
        """Say that real progress was made; without it the lease is not renewed."""
        ...

    async def record(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        """Run `write` in a durable transaction whose first statement renews the lease.

        Raises LeaseLostError, with nothing written, when the lease is no longer ours. The first
        recorded results of an attempt take its charge back, once.
        """
        ...

    async def note(self, write: Callable[[Tx], Awaitable[None]]) -> None:
        """Run `write` as `record` does, for what is no result: the attempt stays charged."""
        ...


class Handle(Protocol):
    """Do the work, in no transaction; return what `apply` writes, or raise."""

    async def __call__(self, work: Work, parsed: Any, /) -> Any:
        """Run one attempt."""
        ...


@dataclass(frozen=True, slots=True)
class Settled:
    """One attempt that completed, as `apply` is handed it inside the settling transaction."""

    lease: Lease
    parsed: Any
    result: Any


Parse = Callable[[Payload], Any]
Apply = Callable[[Tx, Sequence[Settled]], Awaitable[None]]
Ended = Callable[[Tx, Sequence[EndedJob], Outcome, str], Awaitable[None]]
Cancel = Callable[[Any], Awaitable[None]]


async def nothing_to_stop(_parsed: Any) -> None:
    """Serve as `cancel` of a kind whose handler stops by being cancelled."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """One sort of work; without `handle` a process can enqueue and end it, but not claim it.

    `lane` is the stem: an enqueue may add `@<environment>`. `parse` raises MalformedPayloadError.
    `apply` writes the effects inside the settling transaction; without it that is one statement.
    `ended` runs inside every transaction that moves a job out of the queue without success, and
    must be safe to run late.
    Jobs of a patient kind wait for a consumer however long its lane is unserved.
    """

    name: str
    lane: str
    parse: Parse
    apply: Apply | None
    ended: Ended
    retry: RetryPolicy
    settling: Settling = Settling.ALONE
    is_patient: bool = False
    handle: Handle | None = None
    cancel: Cancel = nothing_to_stop

    def handled(self, handle: Handle, cancel: Cancel = nothing_to_stop) -> "JobKind":
        """Return this kind with the consumer's half."""
        return replace(self, handle=handle, cancel=cancel)


class UnknownKindError(StoryshelfError):
    """A job of a kind that this process was not built with."""

    def __init__(self, kind: str) -> None:
        super().__init__(
            f"No job kind is registered as {kind!r}",
            next_step="Upgrade this process; the job stays until one that knows its kind ends it.",
        )


class JobKinds:
    """The kinds one process knows, by name."""

    def __init__(self, kinds: Sequence[JobKind]) -> None:
        self._kinds: Mapping[str, JobKind] = {kind.name: kind for kind in kinds}
        assert len(self._kinds) == len(kinds), "kind names are unique"

    def find(self, name: str) -> JobKind | None:
        """Return the kind of that name, if this process knows it."""
        return self._kinds.get(name)

    def handled(self) -> tuple[JobKind, ...]:
        """Return the kinds this process can work on, by name."""
        return tuple(kind for _, kind in sorted(self._kinds.items()) if kind.handle is not None)

    def is_patient(self, lane: str) -> bool:
        """Tell whether jobs of the lane wait for a consumer however long it takes."""
        stem = lane.partition("@")[0]
        return any(kind.is_patient for kind in self._kinds.values() if kind.lane == stem)

    async def ended(self, tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
        """Tell each job's kind, kinds in order of name, that it ended without success.

        Raises UnknownKindError: a job nobody here can end properly must stay where it is.
        """
        for name in sorted({job.kind for job in jobs}):
            kind = self.find(name)
            if kind is None:
                raise UnknownKindError(name)
            await kind.ended(tx, [job for job in jobs if job.kind == name], outcome, error)
