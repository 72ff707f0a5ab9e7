"""Decide snapshots of a build, by compare-and-set against what the reviewer saw."""

from collections.abc import Sequence
from dataclasses import dataclass

from storyshelf.audit import store as audit
from storyshelf.builds import shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.reduce import reduce
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import BuildId, SnapshotId
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.decision import (
    NEXT_STATES,
    Decision,
    NoSuchSnapshotError,
    check,
    effective,
)
from storyshelf.snapshots.store import Decidable

# The states that follow from decisions; any other stays what it is whatever people say.
REDUCED_AGAIN = frozenset({BuildState.PENDING, BuildState.ACCEPTED, BuildState.DENIED})


@dataclass(frozen=True, slots=True)
class Seen:
    """A snapshot to be decided, and the decision the reviewer saw on it."""

    id: SnapshotId
    decision: Decision


@dataclass(frozen=True, slots=True)
class Decided:
    """The build after the decision, and how many snapshots it was taken on."""

    build: Build
    number: int


async def decide(
    db: Database, build_id: BuildId, seen: Sequence[Seen], decision: Decision, actor: str
) -> Decided:
    """Decide the named snapshots, all or none.

    Raises NoSuchSnapshotError, UndecidableError, DecisionMovedError. To decide what is decided so
    already changes nothing.
    """
    wanted = {one.id: one.decision for one in seen}
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        found = await snapshots.lock_named(tx, build.id, build.planned_generation, list(wanted))
        if missing := set(wanted) - {one.standing.id for one in found}:
            raise NoSuchSnapshotError(build.number, min(missing))
        for one in found:
            check(one.standing, wanted[one.standing.id], one.decision)
        return await _write(tx, build, found, decision, actor)


async def decide_all(db: Database, build_id: BuildId, decision: Decision, actor: str) -> Decided:
    """Decide everything that still waits; errored snapshots are never among it."""
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        found = await snapshots.lock_undecided(tx, build.id, build.planned_generation)
        return await _write(tx, build, found, decision, actor)


async def _write(
    tx: Tx, build: Build, found: Sequence[Decidable], decision: Decision, actor: str
) -> Decided:
    moved = [one for one in found if decision in NEXT_STATES[one.decision]]
    hands_on = {one.standing.id: effective(one.standing, decision) for one in moved}
    await snapshots.decide(tx, hands_on, decision, actor)
    detail = {"decision": decision, "snapshots": len(moved)}
    event = audit.Event(actor, "snapshots.decide", build.project_id, build.id, detail)
    await audit.record(tx, event)
    return Decided(await _reduce_again(tx, build), len(moved))


async def _reduce_again(tx: Tx, build: Build) -> Build:
    if build.state not in REDUCED_AGAIN:
        return build
    ended = reduce(
        await snapshots.counts(tx, build.id, build.planned_generation),
        await shard_store.count_unsuccessful(tx, build.id, build.generation),
    )
    if ended.state is build.state:
        return build
    return await store.move(
        tx, build, ended.state, state_reason=ended.reason, ended_at=build.ended_at
    )
