"""What a capture found, as values; `report.json` holds them under these names."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from storyshelf.snapshots.violations import Findings

FORMAT = 1  # rises when a reader of report.json would have to change
PHASES = ("open", "render", "settle", "shoot", "examine")  # of a picture, in their order


class State(StrEnum):
    """How a story ended, the worst of its repetitions."""

    ERRORED = "errored"
    WARNINGS = "warnings"
    OK = "ok"
    SKIPPED = "skipped"  # its parameters say so
    MISSING = "missing"  # the capture was stopped before


@dataclass(frozen=True, slots=True)
class Told:
    """A warning with how many of the captures gave it."""

    code: str
    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the console."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a story is errored."""

    code: str
    message: str
    stack: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Region:
    """Half-open, in pixels of the picture."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One of the different pictures of a story; `file` is none for what was only counted."""

    file: str | None
    sha256: str
    width_px: int
    height_px: int
    times: int
    changed_px: int = 0  # against the first; 0 also where it could not be compared
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryResult:
    """One story in one mode; times are in milliseconds, and means where it was repeated."""

    id: str
    title: str
    name: str
    import_path: str
    mode: str
    state: State
    moved: bool
    how: str  # it moved, or why there is nothing; a sentence, or nothing to say
    shots: int
    picture: str | None
    frames: tuple[Frame, ...]
    error: Fault | None
    warnings: tuple[Told, ...]
    failed_requests: tuple[Told, ...]
    console: tuple[Line, ...]
    timings_ms: Mapping[str, float]
    took_ms: float
    trace: str | None = None  # where one was wished; a file beside the picture
    untraced: str = ""  # why it was wished in vain
    accessibility: Findings | None = None  # where it was asked for, and somebody looked


@dataclass(frozen=True, slots=True)
class Report:
    """All of one run; `complete` is false while it runs and if it was stopped."""

    made_at: str
    complete: bool
    storybook: str
    repeat: int
    took_ms: int
    environment: Mapping[str, str]
    notes: tuple[str, ...]
    stories: tuple[StoryResult, ...]
    version: str

    def count(self, state: State) -> int:
        """Return how many stories ended so."""
        return sum(story.state is state for story in self.stories)

    @property
    def moved(self) -> int:
        """Return how many stories did not give the same picture each time."""
        return sum(story.moved for story in self.stories)

    @property
    def violations(self) -> int:
        """Return how often the stories break rules of accessibility."""
        return sum(story.accessibility.total for story in self.stories if story.accessibility)

    @property
    def is_clean(self) -> bool:
        """Whether nothing was errored and nothing moved."""
        return not self.moved and not self.count(State.ERRORED)

    def to_json(self) -> bytes:
        """Return the content of report.json."""
        counts = {str(state): self.count(state) for state in State} | {"moved": self.moved}
        document = {"made_by": "storyshelf capture", "format": FORMAT, "counts": counts}
        return f"{json.dumps(document | asdict(self), indent=2)}\n".encode()
