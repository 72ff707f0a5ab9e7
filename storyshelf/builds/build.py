"""A build: its states, where it may go from each, and the errors about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from storyshelf.errors import BadInputError, ConflictError, NotFoundError
from storyshelf.ids import BuildId, EnvironmentId, JobId, ProjectId
from storyshelf.queue.job import Trace


class BuildState(StrEnum):
    """Where a build stands."""

    UPLOADING = "uploading"
    QUEUED = "queued"
    PLANNING = "planning"
    CAPTURING = "capturing"
    PASSED = "passed"
    PENDING = "pending"
    ACCEPTED = "accepted"
    DENIED = "denied"
    BROKEN = "broken"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


_VERDICTS = frozenset(
    {
        BuildState.PASSED,
        BuildState.PENDING,
        BuildState.ACCEPTED,
        BuildState.DENIED,
        BuildState.BROKEN,
        BuildState.FAILED,
        BuildState.INCOMPLETE,
    }
)
_ENDS_EARLY = frozenset({BuildState.CANCELLED, BuildState.FAILED})
NEXT_STATES: dict[BuildState, frozenset[BuildState]] = {
    BuildState.UPLOADING: frozenset({BuildState.QUEUED, BuildState.CANCELLED, BuildState.SKIPPED}),
    BuildState.QUEUED: frozenset({BuildState.PLANNING}) | _ENDS_EARLY,
    BuildState.PLANNING: frozenset({BuildState.CAPTURING}) | _ENDS_EARLY,
    BuildState.CAPTURING: _VERDICTS | _ENDS_EARLY | {BuildState.QUEUED},  # see `plan_again`
    BuildState.PASSED: frozenset(),
    BuildState.PENDING: frozenset({BuildState.ACCEPTED, BuildState.DENIED}),
    BuildState.ACCEPTED: frozenset({BuildState.PENDING, BuildState.DENIED}),
    BuildState.DENIED: frozenset({BuildState.PENDING, BuildState.ACCEPTED}),
    BuildState.BROKEN: frozenset({BuildState.QUEUED}),
    BuildState.FAILED: frozenset({BuildState.QUEUED, BuildState.CAPTURING}),
    BuildState.INCOMPLETE: frozenset({BuildState.QUEUED}),
    BuildState.CANCELLED: frozenset({BuildState.QUEUED}),
    BuildState.SKIPPED: frozenset(),
}
UNENDED = frozenset(
    {BuildState.UPLOADING, BuildState.QUEUED, BuildState.PLANNING, BuildState.CAPTURING}
)
CAPTURED_AGAIN = frozenset(  # by whoever asks for it
    state for state, to in NEXT_STATES.items() if state not in UNENDED and BuildState.QUEUED in to
)


@dataclass(frozen=True, slots=True)
class CiRun:
    """The run of CI that a build was made by; None for what is not known of it."""

    provider: str | None = None
    event: str | None = None
    run_url: str | None = None
    repository: str | None = None
    base_branch: str | None = None
    is_fork: bool = False


@dataclass(frozen=True, slots=True)
class Build:
    """One bundle at one commit on one branch."""

    id: BuildId
    project_id: ProjectId
    number: int
    idempotency_key: str
    branch: str
    commit: str
    message: str | None
    author: str | None
    state: BuildState
    state_reason: str | None
    generation: int
    planned_generation: int | None
    open_shards: int
    finalise_job_id: JobId | None
    ancestor_build_id: BuildId | None
    rule: str | None
    environment_id: EnvironmentId | None
    created_at: datetime
    sealed_at: datetime | None
    planned_at: datetime | None
    ended_at: datetime | None
    pull_request: int | None = None
    ci: CiRun = field(default_factory=CiRun)
    deleted_ancestor: int | None = None  # the number of what it was compared with, once it is gone
    request_id: str | None = None  # of the request that opened it
    traceparent: str | None = None
    replans: int = 0  # since somebody last had it captured
    replan_reason: str | None = None
    warnings: Sequence[str] = ()  # what planning has to say of the bundle as a whole

    @property
    def trace(self) -> Trace:
        """Return what its jobs are found by in the logs."""
        return Trace(self.request_id, self.traceparent)

    @property
    def has_ended(self) -> bool:
        """Return whether nothing more will happen by itself."""
        return self.state not in UNENDED


def _states_before(wanted: BuildState) -> str:
    """Return the states that lead to one, in words."""
    return " or ".join(state for state, following in NEXT_STATES.items() if wanted in following)


class NoSuchBuildError(NotFoundError):
    """No build of that number in the project."""

    def __init__(self, slug: str, number: int) -> None:
        super().__init__(
            "There is no such build",
            where=f"{slug} build {number}",
            next_step="The project's page lists its builds with their numbers.",
        )


class BuildGoneError(NotFoundError):
    """The build was deleted after the request had found it."""

    def __init__(self, build_id: BuildId) -> None:
        super().__init__(
            "The build was deleted",
            where=f"build id {build_id}",
            next_step="The project's page lists the builds that it has.",
        )


class BuildMovedError(ConflictError):
    """The build is no longer where the request found it."""

    def __init__(self, build: Build, wanted: BuildState) -> None:
        super().__init__(
            f"A build that is {build.state} cannot become {wanted}",
            where=f"build {build.number}",
            next_step=f"Look at the build again; only one that is {_states_before(wanted)} can.",
        )


class NotOverError(ConflictError):
    """A build that is under way cannot be captured again yet."""

    def __init__(self, build: Build) -> None:
        super().__init__(
            f"The build is still {build.state}",
            where=f"build {build.number}",
            next_step="Wait until it has ended, or cancel it first.",
        )


class KeyReusedError(ConflictError):
    """An idempotency key came back with another request."""

    def __init__(self, number: int) -> None:
        super().__init__(
            "The idempotency key belongs to another commit, branch or set of files",
            where=f"build {number}",
            next_step="Use a new key for a new build.",
        )


class NotUploadingError(ConflictError):
    """A file came for a build that takes none any more."""

    def __init__(self, build: Build) -> None:
        super().__init__(
            f"The build is {build.state} and takes no more files",
            where=f"build {build.number}",
            next_step="Open a new build to upload something else.",
        )


class NotInManifestError(NotFoundError):
    """A file came that the manifest does not name."""

    def __init__(self, number: int, key: str) -> None:
        super().__init__(
            "The manifest of the build does not name this content",
            where=f"build {number}, blob {key}",
            next_step="Send only what the server said is missing.",
        )


class MissingBlobsError(ConflictError):
    """The seal came before all files had."""

    def __init__(self, number: int, missing: tuple[str, ...]) -> None:
        super().__init__(
            f"{len(missing)} files of the manifest were not uploaded",
            where=f"build {number}, first {missing[0]}",
            next_step="Run the upload again; files already here are skipped.",
        )
        self.missing = missing


class NothingToRetryError(ConflictError):
    """A shard that is not failed, or of a build that did not fail."""

    def __init__(self, number: int, shard: int, problem: str) -> None:
        super().__init__(
            f"The shard cannot be retried: {problem}",
            where=f"build {number}, shard {shard}",
            next_step="Only a failed or cancelled shard can, of a build that failed or that is "
            "captured still; see the states of both.",
        )


class NoSuchShardError(NotFoundError):
    """No shard of that number in the build."""

    def __init__(self, number: int, shard: int) -> None:
        super().__init__(
            "There is no such shard",
            where=f"build {number}, shard {shard}",
            next_step="List the shards of the build to find its number.",
        )


class NeverSealedError(BadInputError):
    """Captured again is only what was once whole."""

    http_status = 409

    def __init__(self, number: int) -> None:
        super().__init__(
            "The build cannot be captured again: its upload never ended",
            where=f"build {number}",
            next_step="Run the upload again.",
        )
