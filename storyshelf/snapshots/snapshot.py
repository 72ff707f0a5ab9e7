"""A snapshot's verdicts, what it is captured with, and what a capture says of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.isolation import Isolation
from storyshelf.bundle.look import ALWAYS, Look
from storyshelf.bundle.viewport import Viewport
from storyshelf.diff.cover import Region
from storyshelf.ids import BlobKey, EnvironmentId, SnapshotId, SnapshotKey, StoryId
from storyshelf.snapshots.steadiness import Level
from storyshelf.snapshots.violations import Findings, Standing


class Verdict(StrEnum):
    """What the machine says of a snapshot."""

    PLANNED = "planned"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    INHERITED = "inherited"
    ERRORED = "errored"
    UNSTABLE = "unstable"
    SKIPPED = "skipped"


FIRST_VERDICTS = frozenset(
    {Verdict.PLANNED, Verdict.REMOVED, Verdict.INHERITED, Verdict.SKIPPED}
)  # what planning may write; nothing of it but `planned` is rendered
NEXT_VERDICTS: dict[Verdict, frozenset[Verdict]] = {
    Verdict.PLANNED: frozenset(
        {Verdict.UNCHANGED, Verdict.CHANGED, Verdict.ADDED, Verdict.ERRORED, Verdict.UNSTABLE}
    ),
    Verdict.UNCHANGED: frozenset(),
    Verdict.CHANGED: frozenset(),
    Verdict.ADDED: frozenset(),
    Verdict.REMOVED: frozenset(),
    Verdict.INHERITED: frozenset(),
    Verdict.ERRORED: frozenset(),
    Verdict.UNSTABLE: frozenset(),
    Verdict.SKIPPED: frozenset(),
}


class Pixels(StrEnum):
    """How a picture stands to its baseline's pixels, below any tolerance."""

    EQUAL = "equal"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """How a snapshot is shot and compared."""

    viewport: Viewport = field(default_factory=Viewport)
    delay_ms: int = 0
    diff_threshold: float = 0.1
    includes_edges: bool = False
    look: Look = ALWAYS
    accessibility: Accessibility = Accessibility.ADDON
    checks: str = ""  # of its accessibility: what to look for, see `bundle.accessibility`
    isolation: Isolation = Isolation.SHARED

    def to_json(self) -> dict[str, Any]:
        """Return what is stored; of the look and what is looked for only what is not as always."""
        stored = asdict(self) | {"look": self.look.to_json()}
        return {name: value for name, value in stored.items() if name != "checks" or value}

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> "CaptureOptions":
        """Read what `to_json` wrote."""
        return cls(
            viewport=Viewport(**stored["viewport"]),
            delay_ms=stored["delay_ms"],
            diff_threshold=stored["diff_threshold"],
            includes_edges=stored.get("includes_edges", False),
            look=Look.parse(stored.get("look", {})),
            accessibility=Accessibility(stored.get("accessibility", Accessibility.OFF)),
            checks=stored.get("checks", ""),
            isolation=Isolation(stored.get("isolation", Isolation.STRICT)),
        )


@dataclass(frozen=True, slots=True)
class PlannedSnapshot:
    """A snapshot that waits to be captured, with what it will be compared with.

    `moving` is where the story of the baseline was seen to move, as x, y, width, height.
    """

    id: SnapshotId
    key: SnapshotKey
    options: CaptureOptions
    crashes: int
    baseline_id: SnapshotId | None
    baseline_image: BlobKey | None
    moving: tuple[Region, ...] = ()
    baseline_findings: Findings | None = None
    baseline_ignored: tuple[Region, ...] = ()
    level: Level = Level.PAIR  # where its capture begins


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning about a capture: a stable code, and a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """What a story wrote to the browser's console: `error warning info log debug`, and a line."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class CaptureError:
    """Why a story could not be captured as it should."""

    code: str
    message: str
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """What the comparison counted; regions are in pixels of the new picture.

    `moving` is where the story was seen to move, or is known to.
    """

    raw_px: int
    changed_px: int
    regions: tuple[Region, ...]
    metric: str
    engine: str
    engine_version: str
    base_size: tuple[int, int]
    head_size: tuple[int, int]
    mask_x: int = 0
    mask_y: int = 0
    moving: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A stored picture, as the browser encoded it."""

    key: BlobKey
    size_bytes: int
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class StoredMask:
    """The cropped mask of a difference, as a stored PNG."""

    key: BlobKey
    size_bytes: int


@dataclass(frozen=True, slots=True)
class OrderDependence:
    """Shown after the suspect, a story was not its baseline's picture; loaded by itself it was.

    `left` names what was found in the page once the suspect had gone.
    """

    suspect: StoryId
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """What one capture says of one snapshot, ready to be written."""

    id: SnapshotId
    verdict: Verdict
    reason: str
    pixels: Pixels
    environment_id: EnvironmentId
    duration_ms: int
    picture: Picture | None = None
    diff: Diff | None = None
    mask: StoredMask | None = None
    frames: tuple[Picture, ...] = ()
    error: CaptureError | None = None
    warnings: tuple[Notice, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    console: tuple[ConsoleLine, ...] = ()
    level: Level | None = None  # where it was believed; none: an error tells nothing of it
    findings: Findings | None = None
    standing: Standing | None = None  # of the findings, beside the baseline's
    ignored: tuple[Region, ...] = ()  # what of its picture is not compared, now or as a baseline
    order_dependence: OrderDependence | None = None
