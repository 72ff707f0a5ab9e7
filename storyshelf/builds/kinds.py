"""The transactional half of a build's job kinds; what the consumer does is added there."""

from collections.abc import Sequence
from datetime import timedelta

from storyshelf.builds import moving, shard_store, store
from storyshelf.builds.build import BuildState
from storyshelf.builds.close_shard import Closing, close, close_captured
from storyshelf.builds.finalise import finalise
from storyshelf.builds.jobs import (
    BUILD_LANE,
    CAPTURE,
    CAPTURE_LANE,
    FINALISE,
    PLAN,
    PLAN_LANE,
    parse_capture,
    parse_finalise,
    parse_plan,
)
from storyshelf.builds.plan_build import Plan, apply_plan
from storyshelf.builds.shard_store import ShardState
from storyshelf.db.engine import Tx
from storyshelf.queue.job import EndedJob, Outcome
from storyshelf.queue.job_kind import JobKind, Settled, Settling
from storyshelf.queue.retry import RetryPolicy

IN_WORDS = {  # after "its plan job"
    Outcome.FAILED: "failed",
    Outcome.CANCELLED: "was cancelled",
    Outcome.DROPPED: "could not be read",
    Outcome.UNHANDLED: "found nobody to do it",
    Outcome.CRASHED: "crashed",
}


async def _apply_plans(tx: Tx, settled: Sequence[Settled]) -> None:
    for one in settled:
        if isinstance(one.result, Plan):  # none: the build was cancelled before it was planned
            await apply_plan(tx, one.result)


async def _apply_captures(tx: Tx, settled: Sequence[Settled]) -> None:
    await close_captured(tx, [one.parsed.shard_id for one in settled])


async def _apply_finalises(tx: Tx, settled: Sequence[Settled]) -> None:
    for one in settled:
        await finalise(tx, one.parsed)


async def _end_builds(tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
    """End the builds of jobs that plan or finalise them; read from the job, not its payload."""
    to = BuildState.CANCELLED if outcome is Outcome.CANCELLED else BuildState.FAILED
    for job in sorted(jobs, key=lambda job: job.build_id or 0):
        if job.build_id is None:
            continue
        build = await store.lock(tx, job.build_id)
        if build.has_ended or build.generation != job.generation:
            continue
        what = IN_WORDS.get(outcome, f"ended as {outcome}")
        reason = f"its {job.kind} job {what}: {error}"
        await moving.move(tx, build, to, state_reason=reason)


async def _end_shards(tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
    """Close the shards of capture jobs; found by the job's id, since a payload may be malformed."""
    state = ShardState.CANCELLED if outcome is Outcome.CANCELLED else ShardState.FAILED
    ids = await shard_store.of_jobs(tx, [job.job_id for job in jobs])
    await close(tx, [Closing(shard_id, state, f"{outcome}: {error}") for shard_id in ids])


def build_kinds() -> tuple[JobKind, ...]:
    """Return the kinds as server and consumers register them, without their handlers."""
    return (
        JobKind(
            name=PLAN,
            lane=PLAN_LANE,
            parse=parse_plan,
            apply=_apply_plans,
            ended=_end_builds,
            retry=RetryPolicy(base=timedelta(seconds=5)),
        ),
        JobKind(
            name=CAPTURE,
            lane=CAPTURE_LANE,
            parse=parse_capture,
            apply=_apply_captures,
            ended=_end_shards,
            retry=RetryPolicy(base=timedelta(seconds=5)),
            settling=Settling.TOGETHER,
        ),
        JobKind(
            name=FINALISE,
            lane=BUILD_LANE,
            parse=parse_finalise,
            apply=_apply_finalises,
            ended=_end_builds,
            retry=RetryPolicy(base=timedelta(seconds=2)),
        ),
    )
