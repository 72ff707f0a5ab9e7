"""All SQL of snapshots."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import (
    Boolean,
    Row,
    bindparam,
    case,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import aliased

from storyshelf.db.engine import Tx
from storyshelf.db.tables import SnapshotRow
from storyshelf.ids import (
    BuildId,
    ShardId,
    SnapshotId,
    SnapshotKey,
    StoryId,
)
from storyshelf.snapshots.counts import Counts, Violations
from storyshelf.snapshots.decision import DECIDABLE, Decision, Standing, effective
from storyshelf.snapshots.snapshot import (
    FIRST_VERDICTS,
    NEXT_VERDICTS,
    CaptureOptions,
    Notice,
    PlannedSnapshot,
    SnapshotResult,
    Verdict,
)
from storyshelf.snapshots.violations import Findings

DECIDED_NOW = case((bindparam("is_decided", type_=Boolean), func.now()), else_=None)
ROWS_A_STATEMENT = 1_000  # a build of 25,000 snapshots must not become one 30 MB statement


@dataclass(frozen=True, slots=True)
class NewSnapshot:
    """A row as planning writes it; `shard_number` only where it is to be rendered."""

    key: SnapshotKey
    title: str
    name: str
    import_path: str
    options: CaptureOptions
    verdict: Verdict
    reason: str
    baseline_id: SnapshotId | None
    baseline_reason: str
    shard_number: int | None = None
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class AncestorSnapshot:
    """What an ancestor build says of a key: its effective snapshot, and what its capture cost."""

    key: SnapshotKey
    title: str
    name: str
    import_path: str
    options: CaptureOptions
    effective_id: SnapshotId | None
    cost_ms: int | None


async def add(
    tx: Tx,
    build: tuple[BuildId, int],
    rows: Sequence[NewSnapshot],
    shard_ids: Mapping[int, ShardId],
    accepts: Mapping[Verdict, str],
) -> None:
    """Write a build's rows as planned; until a result comes, each hands on its baseline.

    A removal is known without one: where `accepts` names a rule for it, it hands on nothing.
    """
    build_id, generation = build
    assert all(row.verdict in FIRST_VERDICTS for row in rows), "planning writes no captured verdict"
    values = [
        {
            "build_id": build_id,
            "generation": generation,
            **asdict(row.key),
            "title": row.title,
            "name": row.name,
            "import_path": row.import_path,
            "options": row.options.to_json(),
            "shard_id": None if row.shard_number is None else shard_ids[row.shard_number],
            "verdict": row.verdict,
            "reason": row.reason,
            "baseline_snapshot_id": row.baseline_id,
            "baseline_reason": row.baseline_reason,
            "effective_snapshot_id": None if row.verdict in accepts else row.baseline_id,
            "warnings": [asdict(warning) for warning in row.warnings],
            **_decision_by(accepts.get(row.verdict)),
        }
        for row in rows
    ]
    statement = insert(SnapshotRow).values(decided_at=DECIDED_NOW)
    for start in range(0, len(values), ROWS_A_STATEMENT):
        await tx.execute(statement, values[start : start + ROWS_A_STATEMENT])


async def of_ancestor(tx: Tx, build_id: BuildId, generation: int) -> Sequence[AncestorSnapshot]:
    """Return one row a key: O(stories), whatever the history."""
    rows = await tx.execute(
        select(
            *(SnapshotRow.story_id, SnapshotRow.mode, SnapshotRow.browser),
            *(SnapshotRow.title, SnapshotRow.name, SnapshotRow.import_path),
            *(SnapshotRow.options, SnapshotRow.effective_snapshot_id, SnapshotRow.duration_ms),
        ).where(SnapshotRow.build_id == build_id, SnapshotRow.generation == generation)
    )
    return [
        AncestorSnapshot(
            key=_key(row),
            title=row.title,
            name=row.name,
            import_path=row.import_path,
            options=CaptureOptions.parse(row.options),
            effective_id=row.effective_snapshot_id,
            cost_ms=row.duration_ms,
        )
        for row in rows
    ]


async def planned_of_shard(tx: Tx, shard_id: ShardId) -> Sequence[PlannedSnapshot]:
    """Return what the shard still has to render, in the order of its stories' files."""
    baseline = aliased(SnapshotRow)
    rows = await tx.execute(
        select(
            SnapshotRow.id,
            *(SnapshotRow.story_id, SnapshotRow.mode, SnapshotRow.browser),
            *(SnapshotRow.options, SnapshotRow.crashes, SnapshotRow.baseline_snapshot_id),
            baseline.image_key.label("baseline_image"),
            baseline.diff.label("baseline_diff"),
            baseline.accessibility.label("baseline_findings"),
            baseline.ignored.label("baseline_ignored"),
        )
        .outerjoin(baseline, baseline.id == SnapshotRow.baseline_snapshot_id)
        .where(SnapshotRow.shard_id == shard_id, SnapshotRow.verdict == Verdict.PLANNED)
        .order_by(SnapshotRow.import_path, SnapshotRow.story_id, SnapshotRow.mode)
    )
    return [
        PlannedSnapshot(
            id=SnapshotId(row.id),
            key=_key(row),
            options=CaptureOptions.parse(row.options),
            crashes=row.crashes,
            baseline_id=row.baseline_snapshot_id,
            baseline_image=row.baseline_image,
            moving=tuple(map(tuple, (row.baseline_diff or {}).get("moving", ()))),
            baseline_findings=_findings(row.baseline_findings),
            baseline_ignored=tuple(tuple(region) for region in row.baseline_ignored or ()),
        )
        for row in rows
    ]


async def planned_counts(tx: Tx, shard_ids: Sequence[ShardId]) -> Mapping[ShardId, int]:
    """Return how many snapshots of each shard are still to be rendered; none: not in the map."""
    rows = await tx.execute(
        select(SnapshotRow.shard_id, func.count())
        .where(SnapshotRow.shard_id.in_(shard_ids), SnapshotRow.verdict == Verdict.PLANNED)
        .group_by(SnapshotRow.shard_id)
    )
    return {ShardId(row[0]): row[1] for row in rows}


async def count_crash(tx: Tx, snapshot_id: SnapshotId) -> None:
    """Count that a child died on this story."""
    await tx.execute(
        update(SnapshotRow)
        .where(SnapshotRow.id == snapshot_id, SnapshotRow.verdict == Verdict.PLANNED)
        .values(crashes=SnapshotRow.crashes + 1)
    )


async def write_results(
    tx: Tx, results: Sequence[SnapshotResult], accepts: Mapping[Verdict, str]
) -> None:
    """Write results over rows that are still planned; a result that came before stays.

    `accepts` names the rule by which a verdict is accepted at once. A decision that a person took
    before a shard was retried is on another row, so none can be overwritten here.
    """
    ordered = sorted(results, key=lambda result: result.id)  # the lock order of snapshots
    if not ordered:
        return
    await tx.execute(
        update(SnapshotRow)
        .where(SnapshotRow.id == bindparam("row_id"), SnapshotRow.verdict == Verdict.PLANNED)
        .values(
            decided_at=DECIDED_NOW,
            effective_snapshot_id=case(
                (bindparam("hands_on_itself", type_=Boolean), SnapshotRow.id),
                else_=SnapshotRow.baseline_snapshot_id,
            ),
            # After those of its plan: what a story asked for in vain is true of its picture too.
            warnings=SnapshotRow.warnings.concat(bindparam("found", type_=JSONB)),
            captured_at=func.clock_timestamp(),
        ),
        [_written(result, accepts.get(result.verdict)) for result in ordered],
    )


def _written(result: SnapshotResult, rule: str | None) -> dict[str, Any]:
    allowed = NEXT_VERDICTS[Verdict.PLANNED]
    assert result.verdict in allowed, f"a capture ends in one of {sorted(allowed)}"
    decision = Decision.NONE if rule is None else Decision.ACCEPTED
    standing = Standing(result.id, result.verdict, result.pixels, baseline_id=None)
    picture = result.picture
    return {
        "row_id": result.id,
        "hands_on_itself": effective(standing, decision) == result.id,
        "verdict": result.verdict,
        "reason": result.reason,
        **_decision_by(rule),
        "image_key": picture and picture.key,
        "width_px": picture and picture.width_px,
        "height_px": picture and picture.height_px,
        "diff": result.diff and asdict(result.diff),
        "mask_key": result.mask and result.mask.key,
        "frames": [frame.key for frame in result.frames],
        "error": result.error and asdict(result.error),
        "found": [asdict(warning) for warning in result.warnings],
        "timings_ms": dict(result.timings_ms),
        "ignored": result.ignored,
        "console": [asdict(line) for line in result.console],
        **_examined(result),
        "duration_ms": result.duration_ms,
        "environment_id": result.environment_id,
    }


def _examined(result: SnapshotResult) -> dict[str, Any]:
    """Return the columns of accessibility; what was not found out is null, not nothing."""
    findings, standing = result.findings, result.standing
    is_known = findings is not None and not findings.problem
    return {
        "accessibility": findings and findings.to_json(),
        "violations": findings.total if findings is not None and is_known else None,
        "new_violations": standing and len(standing.new),
        "fixed_violations": standing and len(standing.fixed),
    }


def _findings(stored: Mapping[str, Any] | None) -> Findings | None:
    return None if stored is None else Findings.parse(stored)


def _decision_by(rule: str | None) -> dict[str, Any]:
    """Return the columns of a decision that a rule took, or of none."""
    return {
        "is_decided": rule is not None,
        "decision": Decision.NONE if rule is None else Decision.ACCEPTED,
        "decided_by": None if rule is None else f"rule: {rule}",
    }


async def counts(tx: Tx, build_id: BuildId, generation: int | None) -> Counts:
    """Count a build's snapshots by verdict and decision; a build without a plan has none."""
    return (await counts_of(tx, {build_id: generation}))[build_id]


async def counts_of(tx: Tx, builds: Mapping[BuildId, int | None]) -> Mapping[BuildId, Counts]:
    """Count the snapshots of builds in their planned generations, in one statement."""
    planned = [(build, generation) for build, generation in builds.items() if generation]
    rows = await tx.execute(
        select(
            *(SnapshotRow.build_id, SnapshotRow.verdict, SnapshotRow.decision, func.count()),
            *(func.sum(SnapshotRow.violations), func.sum(SnapshotRow.new_violations)),
            func.sum(SnapshotRow.fixed_violations),
        )
        .where(tuple_(SnapshotRow.build_id, SnapshotRow.generation).in_(planned))
        .group_by(SnapshotRow.build_id, SnapshotRow.verdict, SnapshotRow.decision)
    )
    verdicts: dict[BuildId, dict[Verdict, int]] = {build: {} for build in builds}
    decisions = {build: dict.fromkeys(Decision, 0) for build in builds}
    violations: dict[BuildId, Violations] = {}
    for build_id, verdict, decision, number, *broken in rows:
        of_build = verdicts[build_id]
        of_build[Verdict(verdict)] = of_build.get(Verdict(verdict), 0) + number
        if verdict in DECIDABLE:
            decisions[build_id][Decision(decision)] += number
        if broken[0] is not None:
            sums = Violations(*(int(each or 0) for each in broken))
            violations[build_id] = violations.get(build_id, Violations()) + sums
    return {
        build: Counts(
            verdicts=verdicts[build],
            accepted=decisions[build][Decision.ACCEPTED],
            denied=decisions[build][Decision.DENIED],
            undecided=decisions[build][Decision.NONE],
            violations=violations.get(build),
        )
        for build in builds
    }


async def decide(
    tx: Tx, decided: Mapping[SnapshotId, SnapshotId | None], decision: Decision, actor: str
) -> None:
    """Write a decision, and what each snapshot hands on from now."""
    if not decided:
        return
    when = None if decision is Decision.NONE else func.now()
    await tx.execute(
        update(SnapshotRow)
        .where(SnapshotRow.id == bindparam("row_id"))
        .values(
            decision=decision,
            decided_at=when,
            decided_by=None if decision is Decision.NONE else actor,
            effective_snapshot_id=bindparam("hands_on"),
        ),
        [{"row_id": own, "hands_on": decided[own]} for own in sorted(decided)],
    )


async def carry_over(tx: Tx, build_id: BuildId, generation: int, to_generation: int) -> None:
    """Move a build's rows to its next generation, results and decisions with them."""
    await tx.execute(
        update(SnapshotRow)
        .where(SnapshotRow.build_id == build_id, SnapshotRow.generation == generation)
        .values(generation=to_generation)
    )


def _key(row: Row[*tuple[Any, ...]]) -> SnapshotKey:
    return SnapshotKey(StoryId(row.story_id), row.mode, row.browser)
