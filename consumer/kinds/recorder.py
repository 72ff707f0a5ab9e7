"""Write results as they come: throttled, durable, each write a renewal of the lease."""

from collections.abc import Sequence

from consumer.kinds.stopwatch import Stopwatch
from storyshelf.builds.record_results import ShardWork, record
from storyshelf.clock import Clock
from storyshelf.db.engine import Tx
from storyshelf.ids import SnapshotId
from storyshelf.queue.failpoint import Failpoint, Place
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.snapshot import SnapshotResult

WRITE_EVERY_S = 2.0  # what a crash costs in captures, against a commit for each
WRITE_AT_MOST = 20  # results in one statement


class Recorder:
    """Holds a shard's results until they are worth a transaction."""

    def __init__(self, work: Work, shard: ShardWork, clock: Clock, failpoint: Failpoint) -> None:
        self.watch = Stopwatch(clock)
        self._work = work
        self._shard = shard
        self._clock = clock
        self._failpoint = failpoint
        self._waiting: list[SnapshotResult] = []
        self._written_at = clock.monotonic()

    async def add(self, result: SnapshotResult) -> None:
        """Take a result whose blobs are stored; write when it is time. Raises LeaseLostError."""
        self._waiting.append(result)
        is_time = self._clock.monotonic() - self._written_at >= WRITE_EVERY_S
        if is_time or len(self._waiting) >= WRITE_AT_MOST:
            await self.flush()

    async def flush(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        results, self._waiting = self._waiting, []
        self._failpoint(Place.AFTER_BLOBS)
        with self.watch.step("record"):
            await self._work.record(lambda tx: record(tx, self._shard, results))
        self._written_at = self._clock.monotonic()

    async def count_crash(self, snapshot_id: SnapshotId) -> None:
        """Write that a child died on this snapshot, with what waits."""
        results, self._waiting = self._waiting, []
        write = self._work.record if results else self._work.note  # a crash alone is no result
        await write(lambda tx: self._with_crash(tx, snapshot_id, results))

    async def _with_crash(
        self, tx: Tx, snapshot_id: SnapshotId, results: Sequence[SnapshotResult]
    ) -> None:
        if results:
            await record(tx, self._shard, results)
        await snapshots.count_crash(tx, snapshot_id)
