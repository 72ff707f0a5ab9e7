"""Decide snapshots of a build, by compare-and-set against what the reviewer saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.audit import store as audit
from storyshelf.auth.permissions import Action, Who, require
from storyshelf.builds import moving, shard_store, store
from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.reduce import reduce
from storyshelf.db.engine import Database, Tx
from storyshelf.errors import ConflictError
from storyshelf.ids import BuildId, SnapshotId
from storyshelf.snapshots import decidable
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.among import ALL, Among
from storyshelf.snapshots.decidable import Decidable
from storyshelf.snapshots.decision import (
    NEXT_STATES,
    Decision,
    NoSuchSnapshotError,
    check,
    effective,
)

# The states that follow from decisions; any other stays what it is whatever people say.
REDUCED_AGAIN = frozenset({BuildState.PENDING, BuildState.ACCEPTED, BuildState.DENIED})


@dataclass(frozen=True, slots=True)
class Seen:
    """A snapshot to be decided, and the decision the reviewer saw on it."""

    id: SnapshotId
    decision: Decision


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits of a choice, and how many the reviewer saw waiting; None: no matter."""

    among: Among = ALL
    seen: int | None = None


EVERYTHING = Waiting()


class WaitingMovedError(ConflictError):
    """More or fewer snapshots wait than the reviewer saw."""

    def __init__(self, build_number: int, seen: int | None, found: int) -> None:
        super().__init__(
            f"{seen} snapshots waited when you looked, {found} wait now; nothing was decided",
            where=f"build {build_number}",
            next_step="Look at what came and went, and decide again.",
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """The build after the decision, and how many snapshots it was taken on."""

    build: Build
    number: int


async def decide(
    db: Database, build_id: BuildId, seen: Sequence[Seen], decision: Decision, who: Who
) -> Decided:
    """Decide the named snapshots, all or none.

    Raises ForbiddenError, NoSuchSnapshotError, UndecidableError, DecisionMovedError. To decide
    what is decided so already changes nothing.
    """
    wanted = {one.id: one.decision for one in seen}
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        require(who, Action.DECIDE, build.project_id)
        found = await decidable.lock_named(tx, build.id, build.planned_generation, list(wanted))
        if missing := set(wanted) - {one.standing.id for one in found}:
            raise NoSuchSnapshotError(build.number, min(missing))
        for one in found:
            check(one.standing, wanted[one.standing.id], one.decision)
        return await _write(tx, build, found, decision, who.actor)


async def decide_all(
    db: Database, build_id: BuildId, decision: Decision, who: Who, waiting: Waiting = EVERYTHING
) -> Decided:
    """Decide everything that still waits; errored snapshots are never among it.

    Raises ForbiddenError, and WaitingMovedError where another number waits than was seen.
    """
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        require(who, Action.DECIDE, build.project_id)
        found = await decidable.lock_undecided(
            tx, build.id, build.planned_generation, waiting.among
        )
        if waiting.seen not in {None, len(found)}:
            raise WaitingMovedError(build.number, waiting.seen, len(found))
        return await _write(tx, build, found, decision, who.actor)


async def take_back(db: Database, build_id: BuildId, at: datetime, who: Who) -> Decided:
    """Undo what this person decided in one go; what was decided anew since stays decided.

    Raises ForbiddenError.
    """
    async with db.transaction() as tx:
        build = await store.lock(tx, build_id)
        require(who, Action.DECIDE, build.project_id)
        taken = decidable.Taken(who.actor, at)
        found = await decidable.lock_taken(tx, build.id, build.planned_generation, taken)
        return await _write(tx, build, found, Decision.NONE, who.actor)


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
    return await moving.move(
        tx, build, ended.state, state_reason=ended.reason, ended_at=build.ended_at
    )
