"""The `trace` job: one story, recorded; what the consumer does is added there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from storyshelf.builds.jobs import CAPTURE_LANE
from storyshelf.builds.serving import capture_lane
from storyshelf.db.engine import Tx
from storyshelf.ids import EnvironmentId, JobId, ProjectId, SnapshotId
from storyshelf.queue.job import EndedJob, MalformedPayloadError, NewJob, Outcome, Payload
from storyshelf.queue.job_kind import JobKind, Settled
from storyshelf.queue.retry import RetryPolicy
from storyshelf.storage import store as blob_rows
from storyshelf.traces import store
from storyshelf.traces.trace import Recorded, Unrecorded

TRACE = "trace"
MAX_ATTEMPTS = 2  # somebody waits for it, and can ask again
RETRY = RetryPolicy(base=timedelta(seconds=5))


@dataclass(frozen=True, slots=True)
class TracePayload:
    """Of which snapshot."""

    snapshot_id: SnapshotId


def trace_job(project_id: ProjectId, snapshot_id: SnapshotId, environment: EnvironmentId) -> NewJob:
    """Return the job; of a snapshot there is one at a time."""
    return NewJob(
        kind=TRACE,
        lane=capture_lane(environment),
        payload={"snapshot_id": snapshot_id},
        project_id=project_id,
        dedupe_key=f"{TRACE}:{snapshot_id}",
        max_attempts=MAX_ATTEMPTS,
    )


def parse_trace(payload: Payload) -> TracePayload:
    """Read a payload; raises MalformedPayloadError."""
    value: Any = payload.get("snapshot_id")
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MalformedPayloadError(TRACE, f"snapshot_id is {value!r}, not a number from 1")
    return TracePayload(SnapshotId(value))


def trace_kind() -> JobKind:
    """Return the kind as server and consumers register it, without its handler."""
    return JobKind(
        name=TRACE,
        lane=CAPTURE_LANE,
        parse=parse_trace,
        apply=_apply,
        ended=_ended,
        retry=RETRY,
    )


async def _apply(tx: Tx, settled: Sequence[Settled]) -> None:
    for one in settled:
        job_id, result, project_id = one.lease.job_id, one.result, one.lease.project_id
        if isinstance(result, Recorded):
            assert project_id is not None, "a trace is of a project"
            await blob_rows.remember(tx, project_id, {result.key: result.size_bytes})
            await store.keep(tx, job_id, result)
        elif isinstance(result, Unrecorded):
            await store.fail(tx, job_id, result.why)


async def _ended(tx: Tx, jobs: Sequence[EndedJob], _outcome: Outcome, error: str) -> None:
    for job in jobs:
        tx.close_with(_fail, (job.job_id, f"It could not be recorded: {error}"))


async def _fail(tx: Tx, failed: Sequence[tuple[JobId, str]]) -> None:
    for job_id, why in sorted(failed):
        await store.fail(tx, job_id, why)
