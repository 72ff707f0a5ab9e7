"""What the consumers here do: builds without a browser, and plain jobs of a chosen length."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog

from bench.chaos.diary import RAN
from bench.chaos.record import BARE, note_applied, note_ended, note_written
from consumer.kinds.maintain import TidyHandler
from storyshelf.builds import moving, plan_build, record_results, store
from storyshelf.builds.build import BuildState
from storyshelf.builds.jobs import (
    BUILD_LANE,
    CAPTURE,
    CAPTURE_LANE,
    FINALISE,
    PLAN,
    PLAN_LANE,
    BuildPayload,
    ShardPayload,
)
from storyshelf.builds.kinds import build_kinds
from storyshelf.bundle.index import parse_index
from storyshelf.clock import Clock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, EnvironmentId
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.retention import Limits
from storyshelf.operations.tidy import House
from storyshelf.operations.tidy_job import tidy_kind
from storyshelf.queue.job import EndedJob, NewJob, Outcome, Payload
from storyshelf.queue.job_kind import Handle, JobKind, JobKinds, Settled, Settling, Work
from storyshelf.queue.retry import RetryPolicy
from storyshelf.snapshots.snapshot import Picture, PlannedSnapshot, SnapshotResult
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local_sweep import LocalSweeper
from tests.builds.hand import SIZE_PX, a_diff, index_of, png_of, read_parameters, verdict_on

ENVIRONMENT = EnvironmentId("chaos")
WORK_LANE = "work"
DUEL_LANE = "duel"  # which no consumer serves
TOGETHER, ALONE = BARE, "chore"  # plain jobs; the second records results on its way
LANES = {PLAN_LANE: 2, f"{CAPTURE_LANE}@{ENVIRONMENT}": 6, BUILD_LANE: 2, WORK_LANE: 8}
POISON = "poison"
FAILS_ONCE = 9  # one in so many plain jobs has to be retried
STEP_S = 0.25  # between two touches of a long job
SHOT_MS = 20
DIES_AFTER_S = 1.0  # of poison; its neighbours, who are not to die of it, are quicker
TRIES = 50  # of a plain job: how many of its consumers are killed is a matter of chance
A_STORY_A_SHARD = 1_200  # what planning takes a story without a past to cost, in ms

log = structlog.get_logger()


def plain_job(number: int, lasts_ms: int) -> NewJob:
    """Return a plain job; every other one is settled alone, and records on its way."""
    return NewJob(
        kind=ALONE if number % 2 else TOGETHER,
        lane=WORK_LANE,
        payload={"lasts_ms": lasts_ms, "fails": 0 if number % FAILS_ONCE else 1},
        max_attempts=TRIES,
    )


def duel_job() -> NewJob:
    """Return a job that is settled by whoever is told to."""
    return NewJob(kind=ALONE, lane=DUEL_LANE, payload={})


def poison_job() -> NewJob:
    """Return a job that ends the process that works on it."""
    return NewJob(kind=ALONE, lane=WORK_LANE, payload={POISON: True}, max_attempts=3)


def stories_of(shards: int) -> Sequence[str]:
    """Return the stories of a build with that many shards."""
    return [f"part-{number:03}--story" for number in range(shards)]


def poisoned(stories: Sequence[str]) -> Sequence[str]:
    """Return the stories with one more, on which the process ends."""
    return [*stories, f"{POISON}--story"]


def branch_of(stories: Sequence[str]) -> str:
    """Return a branch whose name says what its builds hold; nobody here can read a bundle."""
    good = [story for story in stories if not story.startswith(POISON)]
    return f"{POISON if len(good) < len(stories) else 'good'}-{len(good)}"


def stories_on(branch: str) -> Sequence[str]:
    """Return the stories that `branch_of` was given."""
    sort, _, shards = branch.partition("-")
    stories = stories_of(int(shards))
    return poisoned(stories) if sort == POISON else stories


def worked_kinds(db: Database, clock: Clock) -> tuple[JobKind, ...]:
    """Return the kinds with their handlers, all on the record."""
    hands = Hands(db, clock)
    handles: Mapping[str, Handle] = {
        PLAN: hands.plan,
        CAPTURE: hands.capture,
        FINALISE: nothing,
        TOGETHER: hands.errand,
        ALONE: hands.chore,
    }
    return tuple(
        on_record(kind).handled(telling(handles[kind.name]))
        for kind in (*build_kinds(), *plain_kinds())
    )


def tidying(db: Database, clock: Clock, folder: Path) -> JobKind:
    """Return the kind that tidies the folder; of each branch two builds are kept."""
    blobs = LocalSweeper(folder)
    house = House(db, JobKinds(every_kind()), blobs, Limits(builds=2), timedelta(hours=24))
    return on_record(tidy_kind()).handled(telling(TidyHandler(house, clock)))


def plain_kinds() -> tuple[JobKind, ...]:
    """Return the kinds of plain jobs: one without effects, and one that has them.

    What the first has in their place is written by a trigger.
    """
    plain = JobKind(
        name=TOGETHER,
        lane=WORK_LANE,
        parse=as_it_is,
        apply=None,
        ended=nothing_to_end,
        retry=RetryPolicy(base=timedelta(seconds=1)),
        settling=Settling.TOGETHER,
    )
    alone = replace(plain, name=ALONE, settling=Settling.ALONE, apply=nothing_to_apply)
    return plain, alone


def on_record(kind: JobKind) -> JobKind:
    """Return the kind with every effect and every end noted in the same transaction."""
    applied = kind.apply

    async def apply(tx: Tx, settled: Sequence[Settled]) -> None:
        assert applied is not None, "else this is not asked for"
        await note_applied(tx, settled)
        await applied(tx, settled)

    async def ended(tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
        await note_ended(tx, jobs)
        await kind.ended(tx, jobs, outcome, error)

    return replace(kind, apply=apply if applied else None, ended=ended)


def telling(handle: Handle) -> Handle:
    """Return the handler with each run of it in the log."""

    async def told(work: Work, parsed: Any, /) -> Any:
        log.info(RAN, job=work.lease.job_id, token=str(work.lease.token))
        return await handle(work, parsed)

    return told


@dataclass(frozen=True, slots=True)
class Hands:
    """The handlers, which are the product's without bundle, browser and pictures."""

    db: Database
    clock: Clock

    async def plan(self, work: Work, parsed: BuildPayload) -> plan_build.Plan | None:
        """Plan the build as its branch says."""
        await work.note(lambda tx: start_planning(tx, parsed))
        async with self.db.transaction() as tx:
            build = await store.by_id(tx, parsed.build_id)
            if build.state is not BuildState.PLANNING or build.generation != parsed.generation:
                return None
            around = await plan_build.read_surroundings(
                tx, BuildId(build.id), ENVIRONMENT, slots=1, shard_cost_ms=A_STORY_A_SHARD
            )
        listed = parse_index(index_of(stories_on(build.branch)), "index.json").stories
        content = plan_build.BundleContent(listed, read_parameters(listed, {}))
        return plan_build.plan(content, around)

    async def capture(self, work: Work, parsed: ShardPayload) -> None:
        """Record a picture of every story that has none."""
        async with self.db.transaction() as tx:
            shard = await record_results.read_work(tx, parsed)
        for snapshot in shard.snapshots:
            await self.clock.sleep(SHOT_MS / 1000)
            if snapshot.key.story_id.startswith(POISON):
                await self.die()
            result = shot(snapshot)

            async def write(tx: Tx, result: SnapshotResult = result) -> None:
                await note_written(tx, work.lease)
                await record_results.record(tx, shard, [result])

            await work.record(write)

    async def errand(self, work: Work, parsed: Payload) -> None:
        """Take the time that the payload says; some fail at first."""
        if work.lease.attempt <= parsed.get("fails", 0):
            raise RuntimeError("It was to fail once.")
        left_s = parsed.get("lasts_ms", 0) / 1000
        while left_s > 0:
            await self.clock.sleep(min(left_s, STEP_S))
            left_s -= STEP_S
            work.touch()

    async def chore(self, work: Work, parsed: Payload) -> None:
        """Take that time, and record on the way; a poisonous one ends the process."""
        if POISON in parsed:
            await self.die()
        await self.errand(work, parsed)
        await work.record(lambda tx: note_written(tx, work.lease))

    async def die(self) -> None:
        """End the process, but not before what else it was at has been written."""
        await self.clock.sleep(DIES_AFTER_S)
        os._exit(7)


async def start_planning(tx: Tx, payload: BuildPayload) -> None:
    """Say that the build is being planned; a second attempt finds it so."""
    build = await store.by_id(tx, payload.build_id)
    if build.state is BuildState.QUEUED and build.generation == payload.generation:
        await moving.move(tx, build, BuildState.PLANNING)


def shot(snapshot: PlannedSnapshot) -> SnapshotResult:
    """Return the same picture for a story each time."""
    story = snapshot.key.story_id
    png = png_of(story)
    key = key_of(png)
    verdict, pixels = verdict_on(story, key, snapshot.baseline_image)
    return SnapshotResult(
        id=snapshot.id,
        verdict=verdict,
        reason="by hand",
        pixels=pixels,
        environment_id=ENVIRONMENT,
        duration_ms=SHOT_MS,
        picture=Picture(key, len(png), *SIZE_PX),
        diff=a_diff() if snapshot.baseline_image not in {None, key} else None,
    )


async def nothing(_work: Work, _parsed: Any) -> None:
    """Leave it to `apply`."""


async def nothing_to_apply(_tx: Tx, _settled: Sequence[Settled]) -> None:
    """Write nothing."""


async def nothing_to_end(
    _tx: Tx, _jobs: Sequence[EndedJob], _outcome: Outcome, _error: str
) -> None:
    """Write nothing."""


def as_it_is(payload: Payload) -> Payload:
    """Return the payload."""
    return payload
