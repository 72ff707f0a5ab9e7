"""Capture a shard: story after story, through as many children as it takes."""

from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import structlog

from consumer.death import ChildDiedError, Death
from consumer.kinds.crashing import after_deaths, said
from consumer.kinds.photograph import Photographer, crashed
from consumer.kinds.recorder import Recorder
from consumer.lending import Lender
from consumer.supervisor import Child
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import ShardPayload
from storyshelf.builds.record_results import ShardWork, read_work
from storyshelf.clock import Clock
from storyshelf.db.engine import Database
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.queue.job import Crashed
from storyshelf.queue.job_kind import Work
from storyshelf.snapshots.snapshot import PlannedSnapshot

CRASHES_PER_STORY = 2  # one can be chance, or another's fault
DEATHS_BETWEEN_STORIES = 3  # a child that keeps dying with nothing in flight will not get better
DIED_BEFORE = "the browser's process died in the attempts before"

log = structlog.get_logger()


@dataclass(slots=True)
class Sitting:
    """One attempt at one shard, and all that it knows: nothing is shared with another attempt."""

    work: Work
    shard: ShardWork
    recorder: Recorder
    left: deque[PlannedSnapshot]
    deaths: int = 0  # in a row, with no story in flight and no result between them
    last_death: str = DIED_BEFORE


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

    async def __call__(self, work: Work, parsed: ShardPayload) -> Crashed | None:
        """Capture what the shard still has planned; everything found is written on the way."""
        async with self._db.transaction() as tx:
            shard = await read_work(tx, parsed)
        if shard.build.state is not BuildState.CAPTURING:
            return None  # cancelled: there is nobody to render for
        recorder = Recorder(work, shard, self._clock, self._failpoint)
        left = deque(in_order_of_looks(shard.snapshots))
        ending = await self._capture(Sitting(work, shard, recorder, left))
        await recorder.flush()
        log.info("shard.captured", shard=parsed.shard_id, stories=len(shard.snapshots),
                 took_ms=dict(recorder.watch.taken_ms))  # fmt: skip
        return ending

    async def _capture(self, sitting: Sitting) -> Crashed | None:
        """Go through what is left; a child's death ends this only if others died just so."""
        while sitting.left:
            if _is_given_up(sitting.left[0]):
                await self._skip_first(sitting)
                continue
            try:
                await self._capture_with_a_child(sitting)
            except ChildDiedError as died:
                if died.how is Death.STOPPED:
                    raise
                await self._survive(died, sitting)
                if sitting.deaths >= DEATHS_BETWEEN_STORIES:
                    return after_deaths(died, sitting.deaths)
        return None

    async def _capture_with_a_child(self, sitting: Sitting) -> None:
        async with AsyncExitStack() as lent:
            with sitting.recorder.watch.step("child"):
                shard = sitting.shard
                lending = self._lender.child(shard.build, shard.files, sitting.work.touch)
                child = await lent.enter_async_context(lending)
            await self._capture_with(child, sitting)

    async def _capture_with(self, child: Child, sitting: Sitting) -> None:
        left = sitting.left
        while left and child.is_usable and not _is_given_up(left[0]):
            result = await self._photographer.result_of(child, left[0], sitting.work)
            left.popleft()
            sitting.deaths = 0
            await sitting.recorder.add(result)

    async def _survive(self, died: ChildDiedError, sitting: Sitting) -> None:
        """Count a death on the story in flight, durably, else as one between stories."""
        log.warning("child.died", how=died.how, story=died.story, detail=died.detail)
        left = sitting.left
        if died.story is None or left[0].key.story_id != died.story:
            sitting.deaths += 1
            return
        sitting.last_death = said(died)
        left[0] = replace(left[0], crashes=left[0].crashes + 1)
        await sitting.recorder.count_crash(left[0].id)

    async def _skip_first(self, sitting: Sitting) -> None:
        snapshot = sitting.left.popleft()
        result = crashed(snapshot, sitting.last_death, self._photographer.environment)
        await sitting.recorder.add(result)


def in_order_of_looks(snapshots: Sequence[PlannedSnapshot]) -> list[PlannedSnapshot]:
    """Return them by look and viewport, so that the page seldom has to change; else as they come.

    Language and time zone weigh most: they cost a new context, whose caches are cold. Within a look
    those that share a page are not parted by others.
    """
    return sorted(
        snapshots, key=lambda one: (one.options.look, one.options.viewport, one.options.isolation)
    )


def _is_given_up(snapshot: PlannedSnapshot) -> bool:
    """Tell whether its children died too often, whichever consumer they were of."""
    return snapshot.crashes >= CRASHES_PER_STORY
