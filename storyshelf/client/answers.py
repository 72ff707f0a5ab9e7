"""What the API answers, as far as the client reads it; fields it does not know are kept.

`model_dump(mode="json")` gives the server's own object back, which is what `--json` prints.
"""

from pydantic import BaseModel, ConfigDict

ENDED_STATES = frozenset(
    {
        "passed",
        "pending",
        "accepted",
        "denied",
        "broken",
        "failed",
        "incomplete",
        "cancelled",
        "skipped",
    }
)
UPLOADING = "uploading"


class Answer(BaseModel):
    """A value that the server sent; a newer server may send more."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Project(Answer):
    """The project that the token belongs to."""

    slug: str
    name: str


class Limits(Answer):
    """What one bundle may hold on this server."""

    max_files: int
    max_file_bytes: int
    max_bundle_bytes: int
    max_path_length: int


class TimeLeft(Answer):
    """Seconds until the build ends."""

    low: float
    likely: float
    high: float


class Progress(Answer):
    """How far the captures are."""

    done: int
    total: int
    rate_per_s: float | None = None
    eta_s: TimeLeft | None = None


class Obstacle(Answer):
    """What a build waits for that no consumer does at the moment."""

    what: str


class Accessibility(Answer):
    """How often a build's stories break accessibility rules, and how that differs from before."""

    violations: int
    new: int | None = None
    fixed: int | None = None


class Build(Answer):
    """A build as the server sees it now."""

    number: int
    url: str
    state: str
    state_reason: str | None = None
    branch: str
    commit: str
    counts: dict[str, int]
    progress: Progress
    storybook_url: str | None = None
    rule: str | None = None
    waits_for: Obstacle | None = None
    warnings: tuple[str, ...] = ()  # an older server has none
    accessibility: Accessibility | None = None

    @property
    def has_ended(self) -> bool:
        """Whether there is a verdict; it may still move as people decide."""
        return self.state in ENDED_STATES

    @property
    def is_uploading(self) -> bool:
        """Whether it still takes files."""
        return self.state == UPLOADING


class OpenedBuild(Answer):
    """A build that was opened now or earlier, and the contents it waits for."""

    build: Build
    missing: tuple[str, ...]


class BuildAnswer(Answer):
    """A build in its envelope."""

    build: Build


class DecidedBuild(Answer):
    """The build after a decision, and how many snapshots it was taken on."""

    build: Build
    decided: int


class CaptureError(Answer):
    """Why a story could not be captured."""

    code: str
    message: str


class Snapshot(Answer):
    """One picture of the build and what is said of it."""

    id: int
    url: str
    story_id: str
    title: str
    name: str
    mode: str
    verdict: str
    reason: str | None = None
    decision: str
    error: CaptureError | None = None


class SnapshotPage(Answer):
    """Some of a list, and where it goes on."""

    items: tuple[Snapshot, ...]
    next: str | None = None


class Problem(Answer):
    """An `application/problem+json` body, as far as it is filled."""

    type: str = "about:blank"
    title: str = ""
    status: int = 0
    what: str = ""
    where: str = ""
    next_step: str = ""
    missing: tuple[str, ...] = ()
