"""A build's snapshots in the order in which they are reviewed: lists, windows, what waits next.

The order is that of the verdicts, what needs a person first, then of the stories' titles; so pages,
filmstrip and keyboard all mean the same by `next`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Tuple, and_, case, func, not_, or_, select, tuple_, union_all
from sqlalchemy.orm import aliased

from storyshelf.builds.build import Build
from storyshelf.db.engine import Tx
from storyshelf.db.tables import SnapshotRow
from storyshelf.ids import SnapshotId
from storyshelf.review.read import SnapshotView, of_build, view_of, with_baselines
from storyshelf.snapshots.among import ALL, Among
from storyshelf.snapshots.decidable import matching
from storyshelf.snapshots.decision import DECIDABLE, Decision, NoSuchSnapshotError
from storyshelf.snapshots.snapshot import Verdict

ORDER = (
    Verdict.CHANGED,
    Verdict.ADDED,
    Verdict.REMOVED,
    Verdict.ERRORED,
    Verdict.UNSTABLE,
    Verdict.UNCHANGED,
    Verdict.SKIPPED,
    Verdict.INHERITED,
    Verdict.PLANNED,
)
_RANKS = {verdict: place for place, verdict in enumerate(ORDER)}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list goes on: title and id of the last snapshot that was seen."""

    title: str
    id: SnapshotId


@dataclass(frozen=True, slots=True)
class Shown:
    """How many snapshots of a verdict a choice leaves in, and how many of them still wait."""

    count: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Window:
    """The snapshots around one, in order; `at` is its place in the window."""

    snapshots: Sequence[SnapshotView]
    at: int

    @property
    def previous(self) -> SnapshotView | None:
        """Return the snapshot before it; None: it is the first."""
        return self.snapshots[self.at - 1] if self.at else None

    @property
    def next(self) -> SnapshotView | None:
        """Return the snapshot after it; None: it is the last."""
        return self.snapshots[self.at + 1] if self.at + 1 < len(self.snapshots) else None


@dataclass(frozen=True, slots=True)
class LastTaken:
    """What somebody decided last in a build, in one go."""

    at: datetime
    decision: Decision
    number: int


async def page(
    tx: Tx, build: Build, among: Among, limit: int, *, after: Place | None = None
) -> Sequence[SnapshotView]:
    """Return snapshots in order of their titles, whatever their verdicts."""
    wanted = [of_build(build), matching(among)]
    if after is not None:
        wanted.append(tuple_(SnapshotRow.title, SnapshotRow.id) > (after.title, after.id))
    by_title = (SnapshotRow.title, SnapshotRow.id)
    rows = await tx.execute(with_baselines().where(*wanted).order_by(*by_title).limit(limit))
    return [view_of(row, build) for row in rows]


async def first_of_each_verdict(
    tx: Tx, build: Build, among: Among, at_most: int
) -> Sequence[SnapshotView]:
    """Return the first snapshots of every verdict in one statement, in the order of review."""
    number = func.row_number().over(
        partition_by=SnapshotRow.verdict, order_by=(SnapshotRow.title, SnapshotRow.id)
    )
    ranked = select(SnapshotRow.id, number.label("number")).where(of_build(build), matching(among))
    first = ranked.subquery()
    rows = await tx.execute(
        with_baselines()
        .join(first, (first.c.id == SnapshotRow.id) & (first.c.number <= at_most))
        .order_by(_place_of(SnapshotRow))
    )
    return [view_of(row, build) for row in rows]


async def counts(tx: Tx, build: Build, among: Among) -> Mapping[Verdict, Shown]:
    """Count what the choice leaves in, by verdict and in the order of review."""
    waits = and_(SnapshotRow.verdict.in_(DECIDABLE), SnapshotRow.decision == Decision.NONE)
    rows = await tx.execute(
        select(SnapshotRow.verdict, func.count(), func.count().filter(waits))
        .where(of_build(build), matching(among))
        .group_by(SnapshotRow.verdict)
    )
    found = {Verdict(verdict): Shown(count, undecided) for verdict, count, undecided in rows}
    return {verdict: found[verdict] for verdict in ORDER if verdict in found}


async def around(tx: Tx, build: Build, among: Among, here: SnapshotId, each_side: int) -> Window:
    """Return the snapshots before and after one, and itself though the choice leaves it out.

    Raises NoSuchSnapshotError.
    """
    own, place = aliased(SnapshotRow), _place_of(SnapshotRow)
    # By id first: to sort whole rows, their JSON and baselines along, costs several times as much.
    shown = select(SnapshotRow.id).join(own, own.id == here).where(of_build(build), matching(among))
    before = shown.where(place < _place_of(own)).order_by(place.desc()).limit(each_side)
    after = shown.where(place > _place_of(own)).order_by(place).limit(each_side)
    sides = union_all(select(before.subquery()), select(after.subquery()))
    wanted = or_(SnapshotRow.id == here, SnapshotRow.id.in_(sides))
    found = await tx.execute(with_baselines().where(of_build(build), wanted).order_by(place))
    rows = found.all()
    at = next((place for place, row in enumerate(rows) if row.id == here), None)
    if at is None:
        raise NoSuchSnapshotError(build.number, here)
    return Window([view_of(row, build) for row in rows], at)


async def next_undecided(
    tx: Tx, build: Build, here: SnapshotId, among: Among = ALL
) -> SnapshotId | None:
    """Return what waits next after this one, going round; None: nothing else waits."""
    own = aliased(SnapshotRow)
    place = _place_of(SnapshotRow)
    rows = await tx.execute(
        select(SnapshotRow.id)
        .join(own, own.id == here)
        .where(
            of_build(build),
            matching(among),
            SnapshotRow.verdict.in_(DECIDABLE),
            SnapshotRow.decision == Decision.NONE,
            SnapshotRow.id != here,
        )
        .order_by(not_(place > _place_of(own)), place)  # first what comes after it
        .limit(1)
    )
    return rows.scalar_one_or_none()


async def last_taken(tx: Tx, build: Build, actor: str) -> LastTaken | None:
    """Return what this person decided last of what still stands."""
    rows = await tx.execute(
        select(SnapshotRow.decided_at, SnapshotRow.decision, func.count())
        .where(of_build(build), SnapshotRow.decided_by == actor)
        .group_by(SnapshotRow.decided_at, SnapshotRow.decision)
        .order_by(SnapshotRow.decided_at.desc())
        .limit(1)
    )
    row = rows.one_or_none()
    return None if row is None else LastTaken(row[0], Decision(row[1]), row[2])


def _place_of(snapshot: Any) -> Tuple:
    """Return a snapshot's place in the order of review, to be compared and sorted by."""
    rank = case(_RANKS, value=snapshot.verdict)
    return tuple_(rank, snapshot.title, snapshot.id)
