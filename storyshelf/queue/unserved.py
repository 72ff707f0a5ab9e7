"""Watches for work that nobody serves: an alarm first, the end of what waits there later."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.queue import store
from storyshelf.queue.job import EndedJob, Outcome
from storyshelf.queue.job_kind import JobKinds
from storyshelf.queue.store import SettledJob, Unserved

SILENT_FOR = timedelta(seconds=60)  # a consumer that has not beaten for this long serves nobody
AT_ONCE = 200  # jobs of one lane and pass

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long work may wait without a consumer."""

    alarm_after: timedelta = timedelta(minutes=2)
    end_after: timedelta = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is unserved at this moment, and what of it has been so for too long."""

    unserved: Sequence[Unserved]
    alarms: Sequence[Unserved]


async def told_to_nobody(_seen: Seen) -> None:
    """Do nothing about what is unserved."""


@dataclass(slots=True)
class UnservedWatch:
    """One pass a call, for the expiry timer; remembers since when it has seen what unserved.

    The memory is the process's own: a job that waited for hours behind others must not end because
    its consumers restart, and after a restart of this process patience begins anew. `tell` hears
    in each pass of all that is unserved, and of what is an alarm by now.
    """

    db: Database
    kinds: JobKinds
    clock: Clock
    patience: Patience = field(default_factory=Patience)
    tell: Callable[[Seen], Awaitable[object]] = told_to_nobody
    _since: dict[Unserved, float] = field(default_factory=dict)
    _alarmed: set[Unserved] = field(default_factory=set)
    _has_looked: bool = False

    async def look(self, tx: Tx) -> bool:
        """Tell whether a pass has anything to do: something is unserved, or was, or it is new."""
        if not self._has_looked or self._since:
            return True
        return bool(await store.unserved(tx, SILENT_FOR))

    async def run_once(self) -> None:
        """Raise the alarm once for each that is unserved, and end what waited too long."""
        async with self.db.transaction() as tx:
            found = await store.unserved(tx, SILENT_FOR)
        self._has_looked = True
        now = self.clock.monotonic()
        self._since = {one: self._since.get(one, now) for one in found}
        self._alarmed &= set(found)
        for one in found:
            self._watch(one, timedelta(seconds=now - self._since[one]))
        try:
            await self.tell(Seen(found, self.alarms))
        except Exception as error:  # noqa: BLE001  # what waits too long ends all the same
            log.warning("unserved.untold", error=repr(error))
        for one in found:
            await self._end_if_late(one, timedelta(seconds=now - self._since[one]))

    @property
    def alarms(self) -> tuple[Unserved, ...]:
        """Return what has been unserved for too long."""
        return tuple(sorted(self._alarmed))

    def _watch(self, one: Unserved, unserved_for: timedelta) -> None:
        if unserved_for < self.patience.alarm_after or one in self._alarmed:
            return
        self._alarmed.add(one)
        seconds = unserved_for.total_seconds()
        if one.kind:
            log.error("kind.unserved", kind=one.kind, lane=one.lane, for_s=seconds)
        else:
            log.error("lane.unserved", lane=one.lane, for_s=seconds)

    async def _end_if_late(self, one: Unserved, unserved_for: timedelta) -> None:
        if unserved_for >= self.patience.end_after and not self._is_patient(one):
            await self._end(one)

    def _is_patient(self, one: Unserved) -> bool:
        kind = self.kinds.find(one.kind)
        return self.kinds.is_patient(one.lane) if kind is None else kind.is_patient

    async def _end(self, one: Unserved) -> None:
        async with self.db.transaction() as tx:
            ended = await store.end_waiting(tx, one, self.patience.end_after, limit=AT_ONCE)
            if ended:  # told of at once: one by one, their shards would be locked out of order
                known = self._known(ended)
                await self.kinds.ended(tx, known, Outcome.UNHANDLED, ended[0].error)
        for each in ended:
            log.info("job.unserved", job=each.job.job_id, kind=each.job.kind, lane=one.lane)

    def _known(self, ended: Sequence[SettledJob]) -> Sequence[EndedJob]:
        """Return those whose kind this process can tell; of others nobody waits to hear."""
        unknown = sorted({one.job.kind for one in ended if self.kinds.find(one.job.kind) is None})
        for kind in unknown:
            log.error("job.unknown_kind_ended", kind=kind)
        return [one.job for one in ended if one.job.kind not in unknown]
