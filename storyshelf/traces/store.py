"""All SQL of traces.

Their rows come last in the lock order, after the lanes' rows: who asks for one has put its job on a
lane before, and who ends one may have enqueued in the same transaction.
"""

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import BuildRow, SnapshotRow, TraceRow
from storyshelf.ids import BlobKey, BuildId, JobId, ProjectId, SnapshotId, StoryId
from storyshelf.snapshots.snapshot import CaptureOptions, Verdict
from storyshelf.traces.trace import Recorded, Subject, Trace, TraceState

KEPT_NOTE = 1_000  # characters of what a story or a child said


async def subject(tx: Tx, snapshot_id: SnapshotId) -> Subject | None:
    """Return what is to be recorded; None: the snapshot is gone with its build."""
    found = await tx.execute(
        select(
            *(SnapshotRow.id, SnapshotRow.build_id, SnapshotRow.story_id),
            *(SnapshotRow.verdict, SnapshotRow.options, BuildRow.project_id),
        )
        .join(BuildRow, BuildRow.id == SnapshotRow.build_id)
        .where(SnapshotRow.id == snapshot_id)
    )
    row = found.one_or_none()
    if row is None:
        return None
    return Subject(
        snapshot_id=SnapshotId(row.id),
        build_id=BuildId(row.build_id),
        project_id=ProjectId(row.project_id),
        story_id=StoryId(row.story_id),
        verdict=Verdict(row.verdict),
        options=CaptureOptions.parse(row.options),
    )


async def wish(tx: Tx, snapshot_id: SnapshotId, job_id: JobId, actor: str) -> None:
    """Write that this job is to record the snapshot's trace; one that was there before is gone."""
    wished: dict[str, Any] = {
        "state": TraceState.WISHED,
        "job_id": job_id,
        "blob_key": None,
        "size_bytes": None,
        "note": "",
        "wished_by": actor,
        "wished_at": func.now(),
        "ended_at": None,
    }
    await tx.execute(
        insert(TraceRow)
        .values(snapshot_id=snapshot_id, **wished)
        .on_conflict_do_update(index_elements=[TraceRow.snapshot_id], set_=wished)
    )


async def keep(tx: Tx, job_id: JobId, recorded: Recorded) -> None:
    """Write what the job has recorded, if it is still wished of it; the blob is known by now."""
    await _end(
        tx,
        job_id,
        state=TraceState.RECORDED,
        blob_key=recorded.key,
        size_bytes=recorded.size_bytes,
        note=recorded.note[:KEPT_NOTE],
    )


async def fail(tx: Tx, job_id: JobId, why: str) -> None:
    """Write why the job has recorded nothing, if it is still wished of it."""
    await _end(tx, job_id, state=TraceState.FAILED, note=why[:KEPT_NOTE])


async def _end(tx: Tx, job_id: JobId, **values: Any) -> None:
    await tx.execute(
        update(TraceRow)
        .where(TraceRow.job_id == job_id, TraceRow.state == TraceState.WISHED)
        .values(ended_at=func.clock_timestamp(), **values)
    )


async def trace_of(tx: Tx, snapshot_id: SnapshotId) -> Trace | None:
    """Return the snapshot's trace, None if nobody wished one."""
    found = await tx.execute(
        select(
            *(TraceRow.state, TraceRow.blob_key, TraceRow.size_bytes, TraceRow.note),
            *(TraceRow.wished_by, TraceRow.wished_at, TraceRow.ended_at),
        ).where(TraceRow.snapshot_id == snapshot_id)
    )
    row = found.one_or_none()
    if row is None:
        return None
    return Trace(
        state=TraceState(row.state),
        key=None if row.blob_key is None else BlobKey(row.blob_key),
        size_bytes=row.size_bytes,
        note=row.note,
        wished_by=row.wished_by,
        wished_at=row.wished_at,
        ended_at=row.ended_at,
    )


async def job_of(tx: Tx, snapshot_id: SnapshotId) -> JobId | None:
    """Return the job that the snapshot's trace was last wished of."""
    found = await tx.execute(select(TraceRow.job_id).where(TraceRow.snapshot_id == snapshot_id))
    job_id = found.scalar_one_or_none()
    return None if job_id is None else JobId(job_id)


async def recorded_in(
    tx: Tx, project_id: ProjectId, snapshot_id: SnapshotId
) -> tuple[BlobKey, int] | None:
    """Return key and size of the snapshot's trace, if it is one of the project's."""
    found = await tx.execute(
        select(TraceRow.blob_key, TraceRow.size_bytes)
        .join(SnapshotRow, SnapshotRow.id == TraceRow.snapshot_id)
        .join(BuildRow, BuildRow.id == SnapshotRow.build_id)
        .where(
            TraceRow.snapshot_id == snapshot_id,
            TraceRow.state == TraceState.RECORDED,
            BuildRow.project_id == project_id,
        )
    )
    row = found.one_or_none()
    return None if row is None else (BlobKey(row.blob_key), row.size_bytes)
