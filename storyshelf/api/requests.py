"""The JSON that the API takes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field

from storyshelf.builds.build import CiRun
from storyshelf.builds.store import NewBuild
from storyshelf.snapshots.decision import Decision

MAX_NUMBER = 2**31 - 1  # of a column
MAX_DECISIONS = 5_000  # in one request; `all` decides any number


class In(BaseModel):
    """A body; what is not known here is refused, so that a typing error cannot pass in silence.

    A list fails at its first wrong item: an error for each of a million would fill the memory.
    """

    model_config = ConfigDict(extra="forbid")


class ManifestEntry(In):
    """One file of a bundle; parsed with its own errors by `bundle.manifest`."""

    path: str
    sha256: str
    size: int


class CiIn(In):
    """The run of CI that makes the build; what its provider does not tell is left out."""

    provider: Annotated[str | None, Field(max_length=50)] = None
    event: Annotated[str | None, Field(max_length=100)] = None
    run_url: Annotated[str | None, Field(max_length=2_000, pattern="^https?://")] = None
    repository: Annotated[str | None, Field(max_length=500)] = None
    base_branch: Annotated[str | None, Field(max_length=500)] = None
    is_fork: bool = False


class OfCommit(In):
    """The commit that a build is of, and where it comes from."""

    commit: Annotated[str, Field(min_length=1, max_length=200)]
    branch: Annotated[str, Field(min_length=1, max_length=500)]
    message: Annotated[str | None, Field(max_length=10_000)] = None
    author: Annotated[str | None, Field(max_length=500)] = None
    pull_request: Annotated[int | None, Field(ge=1, le=MAX_NUMBER)] = None
    ci: CiIn = CiIn()

    def to_build(self, key: str) -> NewBuild:
        """Return what is written of it, under an idempotency key."""
        return NewBuild(
            idempotency_key=key,
            branch=self.branch,
            commit=self.commit,
            message=self.message,
            author=self.author,
            pull_request=self.pull_request,
            ci=CiRun(**self.ci.model_dump()),
        )


class OpenBuild(OfCommit):
    """What opens a build."""

    idempotency_key: Annotated[str, Field(min_length=8, max_length=128)]
    files: Annotated[list[ManifestEntry], FailFast()]
    cancel_older: bool | None = None


class SkipBuild(OfCommit):
    """Why nothing is captured of a commit."""

    reason: Annotated[str, Field(min_length=1, max_length=1_000)]


class CancelBuild(In):
    """Why a build is cancelled."""

    reason: Annotated[str | None, Field(max_length=1_000)] = None


class SeenSnapshot(In):
    """A snapshot, with the decision the reviewer saw on it."""

    id: int
    seen: Decision


class Decide(In):
    """A decision on named snapshots, or on all that still wait for one."""

    decision: Decision
    snapshots: Annotated[list[SeenSnapshot], Field(max_length=MAX_DECISIONS), FailFast()] = []
    all: bool = False
