"""All SQL of shards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, case, func, insert, select, update

from storyshelf.builds.build import NoSuchShardError
from storyshelf.db.engine import Tx
from storyshelf.db.tables import ShardRow
from storyshelf.ids import BuildId, JobId, ShardId


class ShardState(StrEnum):
    """Where a shard stands."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


NEXT_STATES: dict[ShardState, frozenset[ShardState]] = {
    ShardState.OPEN: frozenset({ShardState.DONE, ShardState.FAILED, ShardState.CANCELLED}),
    ShardState.DONE: frozenset(),
    ShardState.FAILED: frozenset({ShardState.OPEN}),
    ShardState.CANCELLED: frozenset({ShardState.OPEN}),
}


@dataclass(frozen=True, slots=True)
class Shard:
    """Planned snapshots that one capture job takes."""

    id: ShardId
    build_id: BuildId
    generation: int
    number: int
    state: ShardState
    job_id: JobId | None
    stories: int
    rounds_without_result: int
    error: str | None
    opened_at: datetime
    closed_at: datetime | None


COLUMNS = tuple(getattr(ShardRow, field.name) for field in fields(Shard))


async def add(tx: Tx, build_id: BuildId, generation: int, sizes: Sequence[int]) -> Sequence[Shard]:
    """Open shards numbered from 1; `sizes` says how many snapshots each holds."""
    if not sizes:
        return []
    made = await tx.execute(
        insert(ShardRow).returning(*COLUMNS, sort_by_parameter_order=True),
        [
            {"build_id": build_id, "generation": generation, "number": number, "stories": stories}
            for number, stories in enumerate(sizes, start=1)
        ],
    )
    return [_shard(row) for row in made]


async def set_jobs(tx: Tx, jobs: Mapping[ShardId, JobId]) -> None:
    """Remember the job that captures each shard."""
    if jobs:
        await tx.execute(
            update(ShardRow)
            .where(ShardRow.id.in_(jobs))
            .values(job_id=case(dict(jobs), value=ShardRow.id))
        )


async def by_id(tx: Tx, shard_id: ShardId) -> Shard:
    """Return a shard that is known to exist."""
    return _shard((await tx.execute(select(*COLUMNS).where(ShardRow.id == shard_id))).one())


async def of_build(tx: Tx, build_id: BuildId, generation: int | None) -> Sequence[Shard]:
    """Return a build's shards in order of their numbers."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(ShardRow.build_id == build_id, ShardRow.generation == generation)
        .order_by(ShardRow.number)
    )
    return [_shard(row) for row in rows]


async def by_number(
    tx: Tx, build: tuple[BuildId, int], generation: int | None, number: int
) -> Shard:
    """Return the shard of a build given as (id, number); raises NoSuchShardError."""
    build_id, build_number = build
    rows = await tx.execute(
        select(*COLUMNS).where(
            ShardRow.build_id == build_id,
            ShardRow.generation == generation,
            ShardRow.number == number,
        )
    )
    row = rows.one_or_none()
    if row is None:
        raise NoSuchShardError(build_number, number)
    return _shard(row)


async def job_of(tx: Tx, shard_id: ShardId) -> JobId | None:
    """Return the job that captures the shard, or did last; None: it has none, or is gone."""
    wanted = select(ShardRow.job_id).where(ShardRow.id == shard_id)
    job_id = (await tx.execute(wanted)).scalar_one_or_none()
    return None if job_id is None else JobId(job_id)


async def of_jobs(tx: Tx, job_ids: Sequence[JobId]) -> Sequence[ShardId]:
    """Return the shards that the jobs were capturing."""
    rows = await tx.execute(select(ShardRow.id).where(ShardRow.job_id.in_(job_ids)))
    return [ShardId(found) for found in rows.scalars()]


async def lock_all(tx: Tx, build_id: BuildId) -> None:
    """Lock every shard of a build, in the lock order of shards."""
    await tx.execute(
        select(ShardRow.id)
        .where(ShardRow.build_id == build_id)
        .order_by(ShardRow.id)
        .with_for_update()
    )


async def lock_open(tx: Tx, ids: Sequence[ShardId]) -> Sequence[Shard]:
    """Lock and return those that are still open, in order of id, the lock order of shards."""
    rows = await tx.execute(
        select(*COLUMNS)
        .where(ShardRow.id.in_(ids), ShardRow.state == ShardState.OPEN)
        .order_by(ShardRow.id)
        .with_for_update()
    )
    return [_shard(row) for row in rows]


async def close(tx: Tx, ids: Sequence[ShardId], state: ShardState, error: str | None) -> None:
    """Close open shards whose rows are locked."""
    if ids:
        await tx.execute(
            update(ShardRow)
            .where(ShardRow.id.in_(ids), ShardRow.state == ShardState.OPEN)
            .values(state=state, error=error, closed_at=func.now())
        )


async def count_round(tx: Tx, shard_id: ShardId, rounds_without_result: int) -> None:
    """Remember how many rounds in a row have brought nothing."""
    await tx.execute(
        update(ShardRow)
        .where(ShardRow.id == shard_id)
        .values(rounds_without_result=rounds_without_result)
    )


async def carry_over(tx: Tx, build_id: BuildId, generation: int, to_generation: int) -> None:
    """Move a build's shards to its next generation."""
    await tx.execute(
        update(ShardRow)
        .where(ShardRow.build_id == build_id, ShardRow.generation == generation)
        .values(generation=to_generation)
    )


async def reopen(tx: Tx, shard_id: ShardId) -> None:
    """Open a failed or cancelled shard for another try."""
    await tx.execute(
        update(ShardRow)
        .where(ShardRow.id == shard_id)
        .values(
            state=ShardState.OPEN,
            error=None,
            closed_at=None,
            opened_at=func.now(),
            rounds_without_result=0,
        )
    )


async def count_open(tx: Tx, build_id: BuildId, generation: int) -> int:
    """Return how many shards have not closed."""
    return await _count(tx, build_id, generation, ShardState.OPEN)


async def count_unsuccessful(tx: Tx, build_id: BuildId, generation: int) -> int:
    """Return how many shards failed; a cancelled one counts as failed."""
    return await _count(tx, build_id, generation, ShardState.FAILED, ShardState.CANCELLED)


async def _count(tx: Tx, build_id: BuildId, generation: int, *states: ShardState) -> int:
    found = await tx.execute(
        select(func.count()).where(
            ShardRow.build_id == build_id,
            ShardRow.generation == generation,
            ShardRow.state.in_(states),
        )
    )
    return int(found.scalar_one())


def _shard(row: Row[*tuple[Any, ...]]) -> Shard:
    values = dict(zip((field.name for field in fields(Shard)), row, strict=True))
    return Shard(**{**values, "state": ShardState(row.state)})
