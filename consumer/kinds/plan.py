"""Plan a build: read its index, load its bundle once for the parameters, and cut it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from consumer.death import ChildDiedError, Death
from consumer.environment import Environment
from consumer.kinds.crashing import after_death_in_plan
from consumer.lending import Lender
from consumer.messages import StoriesRead
from storyshelf.builds import moving, plan_build, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import BuildPayload
from storyshelf.builds.plan_build import BundleContent, Plan
from storyshelf.bundle.index import StoryIndex, find_index, parse_index
from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.bundle.parameters import ReadParameters, parse_parameters
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import BadInputError
from storyshelf.ids import StoryId
from storyshelf.queue.job import Crashed, Failed
from storyshelf.queue.job_kind import Work
from storyshelf.storage.blobs import Blobs

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """How long a bundle may take to load, and how it is cut."""

    read_timeout_ms: int
    shard_cost_ms: int
    slots: int  # captures that can run at once


class PlanHandler:
    """The handler of `plan` jobs; returns the Plan, or None for a build that moved on.

    A bundle on which the child dies is an ending of its own: `crashed`, with the cause of death;
    one whose index cannot be read fails at once.
    """

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        lender: Lender,
        environment: Environment,
        limits: PlanLimits,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._lender = lender
        self._environment = environment
        self._limits = limits

    async def __call__(self, work: Work, parsed: BuildPayload) -> Plan | Crashed | Failed | None:
        """Plan the build."""
        await work.note(lambda tx: _start_planning(tx, parsed))
        async with self._db.transaction() as tx:
            build = await store.by_id(tx, parsed.build_id)
            files = await store.files_of(tx, build.id)
        if build.state is not BuildState.PLANNING or build.generation != parsed.generation:
            return None  # cancelled since it was enqueued
        try:
            index = await self._index(files)
        except BadInputError as error:
            return Failed(str(error))  # what was sealed reads no better the next time
        work.touch()
        try:
            read = await self._read_stories(build, files, work)
        except ChildDiedError as died:
            if died.how is Death.STOPPED:
                raise
            return after_death_in_plan(died, work.lease)
        warnings = (*index.warnings, *(f"A file did not load: {each.text}" for each in read.failed))
        content = BundleContent(index.stories, _parameters(read), frozenset(index.docs), warnings)
        return await self._planned(build, content)

    async def _index(self, files: Sequence[BundledFile]) -> StoryIndex:
        index = find_index(Manifest(tuple(files)))
        return parse_index(await self._blobs.read(index.sha256), index.path)

    async def _read_stories(
        self, build: Build, files: Sequence[BundledFile], work: Work
    ) -> StoriesRead:
        async with self._lender.child(build, files, work.touch) as child:
            read = await child.read_stories(self._limits.read_timeout_ms)
        work.touch()
        return read

    async def _planned(self, build: Build, content: BundleContent) -> Plan:
        async with self._db.transaction() as tx:
            around = await plan_build.read_surroundings(
                tx,
                build.id,
                self._environment.id,
                slots=self._limits.slots,
                shard_cost_ms=self._limits.shard_cost_ms,
            )
        plan = plan_build.plan(content, around)
        log.info("build.planned", build=build.id, snapshots=len(plan.rows),
                 shards=len(plan.shard_sizes), ancestor=plan.ancestor_id)  # fmt: skip
        return replace(plan, facts=self._environment.facts)


async def _start_planning(tx: Tx, payload: BuildPayload) -> None:
    build = await store.by_id(tx, payload.build_id)
    if build.state is BuildState.QUEUED and build.generation == payload.generation:
        await moving.move(tx, build, BuildState.PLANNING)


def _parameters(read: StoriesRead) -> Mapping[StoryId, ReadParameters]:
    return {
        StoryId(story.story_id): parse_parameters(story.storyshelf, story.chromatic)
        for story in read.stories
    }
