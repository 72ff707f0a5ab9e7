"""SQL that finds and locks the snapshots that somebody is about to decide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select, true

from storyshelf.db.engine import Tx
from storyshelf.db.tables import SnapshotRow
from storyshelf.ids import BuildId, SnapshotId
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.decision import DECIDABLE, Decision, Standing
from storyshelf.snapshots.snapshot import Pixels, Verdict


@dataclass(frozen=True, slots=True)
class Decidable:
    """A snapshot that is about to be decided, its row locked."""

    standing: Standing
    decision: Decision


@dataclass(frozen=True, slots=True)
class Taken:
    """What one person decided in one transaction; its time is the transaction's."""

    by: str
    at: datetime


def matching(among: Among) -> ColumnElement[bool]:
    """Return the condition that a snapshot is among these."""
    wanted: list[ColumnElement[bool]] = [true()]
    if among.verdict is not None:
        wanted.append(SnapshotRow.verdict == among.verdict)
    if among.decision is not None:  # of the others there is nothing to decide
        wanted.append(SnapshotRow.verdict.in_(DECIDABLE))
        wanted.append(SnapshotRow.decision == among.decision)
    if among.component:
        wanted.append(SnapshotRow.title == among.component)
    if among.text:
        words = func.concat_ws(" ", SnapshotRow.title, SnapshotRow.name)
        wanted.append(words.icontains(among.text, autoescape=True))
    return and_(*wanted)


async def lock_named(
    tx: Tx, build_id: BuildId, generation: int | None, ids: Sequence[SnapshotId]
) -> Sequence[Decidable]:
    """Lock and return the named snapshots of the build, in order of id; others are left out."""
    return await _locked(tx, build_id, generation, SnapshotRow.id.in_(ids))


async def lock_undecided(
    tx: Tx, build_id: BuildId, generation: int | None, among: Among
) -> Sequence[Decidable]:
    """Lock and return what still waits for a decision; errored snapshots never do."""
    waits = matching(replace(among, decision=Decision.NONE))
    return await _locked(tx, build_id, generation, waits)


async def lock_taken(
    tx: Tx, build_id: BuildId, generation: int | None, taken: Taken
) -> Sequence[Decidable]:
    """Lock and return what was decided in one go and has not been decided anew since."""
    in_one_go = and_(SnapshotRow.decided_at == taken.at, SnapshotRow.decided_by == taken.by)
    return await _locked(tx, build_id, generation, in_one_go)


async def _locked(
    tx: Tx, build_id: BuildId, generation: int | None, wanted: ColumnElement[bool]
) -> Sequence[Decidable]:
    rows = await tx.execute(
        select(
            *(SnapshotRow.id, SnapshotRow.verdict, SnapshotRow.decision),
            *(SnapshotRow.baseline_snapshot_id, SnapshotRow.effective_snapshot_id),
        )
        .where(SnapshotRow.build_id == build_id, SnapshotRow.generation == generation, wanted)
        .order_by(SnapshotRow.id)
        .with_for_update()
    )
    return [
        Decidable(
            Standing(
                SnapshotId(row.id),
                Verdict(row.verdict),
                # Only an unchanged picture's pixels matter, and there is nothing to decide of it.
                Pixels.DIFFERENT,
                row.baseline_snapshot_id,
            ),
            Decision(row.decision),
        )
        for row in rows
    ]
