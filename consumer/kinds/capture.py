"""Capture a shard: story after story, through as many children as it takes."""

from collections import deque
from contextlib import AsyncExitStack
from dataclasses import replace

import structlog

from consumer.death import ChildDiedError, Death
from consumer.kinds.photograph import Photographer, crashed
from consumer.kinds.recorder import Recorder
from consumer.lending import Lender
from consumer.supervisor import Child
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import ShardPayload
from storyshelf.builds.record_results import read_work
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots.snapshot import PlannedSnapshot

CRASHES_PER_STORY = 2  # one can be chance, or another's fault
DEATHS_BETWEEN_STORIES = 3  # a child that keeps dying with nothing in flight will not get better

log = structlog.get_logger()


class CaptureHandler:
    """The handler of `capture` jobs."""

    def __init__(
        self,
        db: Database,
        lender: Lender,
        photographer: Photographer,
        clock: Clock,
        failpoint: Failpoint = no_failpoint,
    ) -> None:
        self._db = db
        self._lender = lender
        self._photographer = photographer
        self._clock = clock
        self._failpoint = failpoint

    async def __call__(self, work: Work, parsed: ShardPayload) -> None:
        """Capture what the shard still has planned; everything found is written on the way."""
        async with self._db.transaction() as tx:
            shard = await read_work(tx, parsed)
        if shard.build.state is not BuildState.CAPTURING:
            return  # cancelled: there is nobody to render for
        recorder = Recorder(work, shard, self._clock, self._failpoint)
        left = deque(shard.snapshots)
        deaths = 0
        while left:
            try:
                async with AsyncExitStack() as lent:
                    with recorder.watch.step("child"):
                        lending = self._lender.child(shard.build, shard.files, work.touch)
                        child = await lent.enter_async_context(lending)
                    await self._capture_with(child, left, recorder, work)
            except ChildDiedError as died:
                if died.how is Death.STOPPED:
                    raise
                deaths += await self._survive(died, left, recorder)
                if deaths >= DEATHS_BETWEEN_STORIES:
                    raise
        await recorder.flush()
        log.info("shard.captured", shard=parsed.shard_id, stories=len(shard.snapshots),
                 took_ms=dict(recorder.watch.taken_ms))  # fmt: skip

    async def _capture_with(
        self, child: Child, left: deque[PlannedSnapshot], recorder: Recorder, work: Work
    ) -> None:
        while left and child.is_usable:
            result = await self._photographer.result_of(child, left[0], work)
            left.popleft()
            await recorder.add(result)

    async def _survive(
        self, died: ChildDiedError, left: deque[PlannedSnapshot], recorder: Recorder
    ) -> int:
        """Count a death on the story in flight, or return 1 for one with none in flight."""
        log.warning("child.died", how=died.how, story=died.story, detail=died.detail)
        if died.story is None or not left or left[0].key.story_id != died.story:
            return 1
        snapshot = replace(left[0], crashes=left[0].crashes + 1)
        left[0] = snapshot
        await recorder.count_crash(snapshot.id)
        if snapshot.crashes >= CRASHES_PER_STORY:
            left.popleft()
            await recorder.add(crashed(snapshot, died, self._photographer.environment))
        return 0
