"""Close shards, and start the one finalise job of a build when its last shard closes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storyshelf.builds import shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import capture_job, finalise_job
from storyshelf.builds.shard_store import Shard, ShardState
from storyshelf.db.engine import Tx
from storyshelf.ids import BuildId, ShardId
from storyshelf.queue import store as queue
from storyshelf.snapshots import store as snapshots

MAX_ROUNDS_WITHOUT_RESULT = 3  # a shard that brings nothing in three rounds will not in a fourth
NOTHING_CAME = f"{MAX_ROUNDS_WITHOUT_RESULT} rounds brought no new result"
LEFT_BEHIND = "the build was cancelled or captured again"


@dataclass(frozen=True, slots=True)
class Closing:
    """How a shard is to be closed."""

    shard_id: ShardId
    state: ShardState
    error: str | None = None


async def close_captured(tx: Tx, ids: Sequence[ShardId]) -> None:
    """Close shards whose capture job completed; one with snapshots still planned goes round again.

    The new round is a new, uncharged job. A shard whose rounds bring nothing is closed as failed,
    and one that its build has left behind as cancelled.
    """
    locked = await shard_store.lock_open(tx, ids)
    left = await snapshots.planned_counts(tx, [shard.id for shard in locked])
    builds = {build_id: await store.by_id(tx, build_id) for build_id in _builds_of(locked, left)}
    again = [shard for shard in locked if _is_worth_it(shard, left, builds)]
    for shard in again:
        await shard_store.count_round(tx, shard.id, shard.rounds_without_result + 1)
    await close(tx, [_closing(s, left, builds) for s in locked if s not in again])
    # After the finalise jobs of `close`: their lane's name, and so their lane row, comes first.
    await _go_round(tx, again, builds)


async def close(tx: Tx, closings: Sequence[Closing]) -> None:
    """Close shards that are still open; whatever ended their jobs, this is the way.

    Only a shard row that really closes counts down, and only in its build's own generation. The
    transaction that takes the counter to zero is unique, since the build's row lock orders them.
    """
    how = {closing.shard_id: closing for closing in closings}
    locked = await shard_store.lock_open(tx, sorted(how))
    groups: dict[tuple[ShardState, str | None], list[ShardId]] = {}
    for shard in locked:
        groups.setdefault((how[shard.id].state, how[shard.id].error), []).append(shard.id)
    for (state, error), ids in groups.items():
        await shard_store.close(tx, ids, state, error)
    closed = Counter((shard.build_id, shard.generation) for shard in locked)
    finished = []
    for (build_id, generation), number in sorted(closed.items()):
        build = await store.count_down(tx, build_id, generation, number)
        if build is not None and build.open_shards == 0:
            finished.append(build)
    await start_finalising(tx, finished)


async def start_finalising(tx: Tx, builds: Sequence[Build]) -> None:
    """Enqueue the one finalise job of each build's generation."""
    if not builds:
        return
    job_ids = await queue.enqueue(tx, [finalise_job(build) for build in builds])
    for build, job_id in zip(builds, job_ids, strict=True):
        assert job_id is not None, "a generation is finalised once"
        await store.set_finalise_job(tx, build, job_id)


def _builds_of(shards: Sequence[Shard], left: Mapping[ShardId, int]) -> Sequence[BuildId]:
    return sorted({shard.build_id for shard in shards if shard.id in left})


def _is_worth_it(
    shard: Shard, left: Mapping[ShardId, int], builds: Mapping[BuildId, Build]
) -> bool:
    if shard.id not in left or _was_left_behind(shard, builds[shard.build_id]):
        return False
    return shard.rounds_without_result + 1 < MAX_ROUNDS_WITHOUT_RESULT


def _was_left_behind(shard: Shard, build: Build) -> bool:
    return build.state is not BuildState.CAPTURING or build.generation != shard.generation


def _closing(shard: Shard, left: Mapping[ShardId, int], builds: Mapping[BuildId, Build]) -> Closing:
    if shard.id not in left:
        return Closing(shard.id, ShardState.DONE)
    if _was_left_behind(shard, builds[shard.build_id]):
        return Closing(shard.id, ShardState.CANCELLED, LEFT_BEHIND)
    return Closing(shard.id, ShardState.FAILED, NOTHING_CAME)


async def _go_round(tx: Tx, shards: Sequence[Shard], builds: Mapping[BuildId, Build]) -> None:
    jobs = [capture_job(builds[shard.build_id], shard.id) for shard in shards]
    job_ids = await queue.enqueue(tx, jobs)
    placed = zip(shards, job_ids, strict=True)
    await shard_store.set_jobs(tx, {shard.id: job_id for shard, job_id in placed if job_id})
