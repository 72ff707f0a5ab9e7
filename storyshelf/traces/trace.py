"""A trace: wished, recorded, or not to be had. Pure."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from storyshelf.errors import ConflictError, NotFoundError
from storyshelf.ids import BlobKey, BuildId, ProjectId, SnapshotId, StoryId
from storyshelf.snapshots.snapshot import CaptureOptions, Verdict

# What has no story in its build's Storybook, or is about to be captured anyway.
WITHOUT_STORY = frozenset({Verdict.REMOVED, Verdict.PLANNED})


class TraceState(StrEnum):
    """How far it is."""

    WISHED = "wished"
    RECORDED = "recorded"
    FAILED = "failed"


NEXT_STATES: dict[TraceState, frozenset[TraceState]] = {
    TraceState.WISHED: frozenset({TraceState.RECORDED, TraceState.FAILED}),
    TraceState.RECORDED: frozenset({TraceState.WISHED}),
    TraceState.FAILED: frozenset({TraceState.WISHED}),
}


@dataclass(frozen=True, slots=True)
class Trace:
    """What there is of one; `note` says how the story ended in it, or why there is none."""

    state: TraceState
    key: BlobKey | None
    size_bytes: int | None
    note: str
    wished_by: str
    wished_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be recorded: a story as its snapshot was shot."""

    snapshot_id: SnapshotId
    build_id: BuildId
    project_id: ProjectId
    story_id: StoryId
    verdict: Verdict
    options: CaptureOptions


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the handler returns of a trace that is stored."""

    key: BlobKey
    size_bytes: int
    note: str


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What the handler returns where another try would bring nothing else."""

    why: str


class NoSuchTraceError(NotFoundError):
    """No trace of this snapshot in this project."""

    def __init__(self, snapshot_id: SnapshotId) -> None:
        super().__init__(
            "There is no trace of this snapshot",
            where=f"snapshot {snapshot_id}",
            next_step="Record one on the snapshot's page.",
        )


class NothingToTraceError(ConflictError):
    """A snapshot without a story that can be captured now."""

    def __init__(self, snapshot_id: SnapshotId, verdict: Verdict) -> None:
        super().__init__(
            f"There is nothing to record: the snapshot is {verdict}",
            where=f"snapshot {snapshot_id}",
            next_step="Choose a snapshot that was captured in this build.",
        )
