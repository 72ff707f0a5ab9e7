"""Watches for lanes that nobody serves: an alarm first, the end of what waits there later."""

from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.queue import store
from storyshelf.queue.job import Outcome
from storyshelf.queue.job_kind import JobKinds

SILENT_FOR = timedelta(seconds=60)  # a consumer that has not beaten for this long serves nobody
AT_ONCE = 200  # jobs of one lane and pass

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a lane may stay without a consumer."""

    alarm_after: timedelta = timedelta(minutes=2)
    end_after: timedelta = timedelta(hours=1)


@dataclass(slots=True)
class UnservedWatch:
    """One pass a call, for the expiry timer; remembers since when it has seen a lane unserved.

    The memory is the process's own: a job that waited for hours behind others must not end because
    its consumers restart, and after a restart of this process patience begins anew.
    """

    db: Database
    kinds: JobKinds
    clock: Clock
    patience: Patience = field(default_factory=Patience)
    _since: dict[str, float] = field(default_factory=dict)
    _alarmed: set[str] = field(default_factory=set)

    async def run_once(self) -> None:
        """Raise the alarm once for each lane that is unserved, and end what waited too long."""
        async with self.db.transaction() as tx:
            lanes = await store.unserved_lanes(tx, SILENT_FOR)
        now = self.clock.monotonic()
        self._since = {lane: self._since.get(lane, now) for lane in lanes}
        self._alarmed &= set(lanes)
        for lane in lanes:
            unserved_for = timedelta(seconds=now - self._since[lane])
            if unserved_for >= self.patience.alarm_after and lane not in self._alarmed:
                self._alarmed.add(lane)
                log.error("lane.unserved", lane=lane, for_s=unserved_for.total_seconds())
            if unserved_for >= self.patience.end_after:
                await self._end(lane)

    @property
    def alarms(self) -> tuple[str, ...]:
        """Return the lanes that have been unserved for too long."""
        return tuple(sorted(self._alarmed))

    async def _end(self, lane: str) -> None:
        async with self.db.transaction() as tx:
            ended = await store.end_waiting(tx, lane, self.patience.end_after, limit=AT_ONCE)
            if ended:  # told of at once: one by one, their shards would be locked out of order
                jobs = [each.job for each in ended]
                await self.kinds.ended(tx, jobs, Outcome.UNHANDLED, ended[0].error)
        for each in ended:
            log.info("job.unserved", job=each.job.job_id, kind=each.job.kind, lane=lane)
