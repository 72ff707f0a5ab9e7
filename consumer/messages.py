"""What the parent and its child say to each other; every field has a bound.

The child renders hostile pages, so the parent believes nothing of what it says beyond these types.
A `bytes` field travels raw behind the JSON header, never inside it (see `consumer.channel`), which
is why it has a default.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from consumer.codes import (
    ConsoleLevel,
    Ending,
    ErrorCode,
    FailureCode,
    Faint,
    Page,
    Stage,
    WarningCode,
)
from consumer.examined import ChecksText, Examination, Examined
from consumer.parameter_values import STORABLE, Label, Parameters
from storyshelf.bundle.index import MAX_ID_BYTES
from storyshelf.bundle.look import ALWAYS, Look
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.regions import MAX_REGIONS
from storyshelf.ids import BlobKey, StoryId
from storyshelf.snapshots.steadiness import Level

__all__ = [
    "ConsoleLevel",
    "Ending",
    "ErrorCode",
    "FailureCode",
    "Faint",
    "Page",
    "Stage",
    "WarningCode",
]  # the codes, besides what is defined here

MAX_SIDE_PX = (
    16_384  # Chromium's texture limit; a taller surface is tiled or cut by the GPU process
)
MAX_FILES = 100_000  # far more than an upload may hold by default; the setting decides there
MAX_STORIES = 20_000  # the entries an index may hold: no story is left without its parameters
MAX_BASE_OR_HEAD_BYTES = 128 << 20  # 25 Mpx of noise is 100 MB as a PNG
MAX_TRACE_BYTES = 30 << 20  # of a story that loads a few MB; with a picture it fits a frame
MAX_FRAMES = 3  # of a story that moves, besides its picture
MAX_FRAMES_BYTES = 16 << 20  # all of them together
MAX_SHORT_TEXT = 500  # characters of a line for people
MAX_LEFT = 30  # things that stories left behind in a page
MAX_IGNORED = 500  # boxes of a picture that are not compared
MAX_CONSOLE_LINES = 50  # of a story; what a reader looks through
MAX_TIMEOUT_MS = 600_000  # no single request is worth more than ten minutes of a lease

RequestId = Annotated[int, Field(ge=0, lt=2**53)]
Text = Annotated[str, Field(max_length=4_000, pattern=STORABLE)]
ShortText = Annotated[str, Field(max_length=MAX_SHORT_TEXT, pattern=STORABLE)]
StackText = Annotated[str, Field(max_length=20_000, pattern=STORABLE)]
StoryName = Annotated[StoryId, Field(min_length=1, max_length=MAX_ID_BYTES, pattern=STORABLE)]
HostName = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,63}\.localhost$")]
Port = Annotated[int, Field(ge=1, le=65_535)]
AllowedHostText = Annotated[str, Field(pattern=r"^(\*\.)?[a-z0-9.-]{1,253}(:[0-9]{1,5})?$")]
Key = Annotated[BlobKey, Field(pattern=r"^[0-9a-f]{64}$")]
TimeoutMs = Annotated[int, Field(ge=1, le=MAX_TIMEOUT_MS)]
Side = Annotated[int, Field(ge=0, le=MAX_SIDE_PX)]
Count = Annotated[int, Field(ge=0, lt=2**40)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Picture = Annotated[bytes, Field(max_length=MAX_BASE_OR_HEAD_BYTES)]
TraceBytes = Annotated[bytes, Field(max_length=MAX_TRACE_BYTES)]


@dataclass(frozen=True, slots=True)
class BundledFile:
    """A file of the bundle: the path a page asks for, and the blob that answers."""

    path: Annotated[str, Field(min_length=1, max_length=1_024)]
    key: Key


@dataclass(frozen=True, slots=True)
class Outlet:
    """The way out: the loopback port of a proxy, and the hosts it asks, as people write them."""

    port: Port
    hosts: Annotated[tuple[AllowedHostText, ...], Field(min_length=1, max_length=50)]


@dataclass(frozen=True, slots=True)
class Open:
    """Serve this bundle from now on; what was open before is closed."""

    id: RequestId
    host: HostName
    root: Annotated[str, Field(min_length=1, max_length=4_096)]
    files: Annotated[tuple[BundledFile, ...], Field(max_length=MAX_FILES)]
    outlet: Outlet | None = None
    kind: Literal["open"] = "open"


@dataclass(frozen=True, slots=True)
class Opened:
    """The bundle is served on this loopback port."""

    id: RequestId
    port: Port
    kind: Literal["opened"] = "opened"


@dataclass(frozen=True, slots=True)
class ReadStories:
    """Load the bundle once and say what its stories' parameters ask for."""

    id: RequestId
    timeout_ms: TimeoutMs
    kind: Literal["read_stories"] = "read_stories"


@dataclass(frozen=True, slots=True)
class StoryParameters:
    """The known keys of one story, as the page gave them: still to be parsed.

    `chromatic` holds what other tools' names say, Chromatic's first.
    """

    story_id: StoryName
    storyshelf: Parameters
    chromatic: Parameters


@dataclass(frozen=True, slots=True)
class StoryWarning:
    """Something a reader should know, in one line."""

    code: WarningCode
    text: ShortText


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """What the story wrote to the console, cut to a line."""

    level: ConsoleLevel
    text: ShortText


Warnings = Annotated[tuple[StoryWarning, ...], Field(max_length=50)]
ConsoleLines = Annotated[tuple[ConsoleLine, ...], Field(max_length=MAX_CONSOLE_LINES)]


@dataclass(frozen=True, slots=True)
class StoriesRead:
    """Every story the loaded bundle knows; `failed` names what would not load."""

    id: RequestId
    stories: Annotated[tuple[StoryParameters, ...], Field(max_length=MAX_STORIES)]
    failed: Warnings
    kind: Literal["stories_read"] = "stories_read"


@dataclass(frozen=True, slots=True)
class Capture:
    """Render one story and take its picture; `timeout_ms` covers all of it, recovery too.

    `baseline` names the picture it will be compared with: its very bytes need no second look.
    """

    id: RequestId
    story_id: StoryName
    viewport_width_px: Annotated[int, Field(ge=50, le=4_096)]
    viewport_height_px: Annotated[int, Field(ge=50, le=4_096)]
    scale: Annotated[float, Field(ge=0.5, le=4, allow_inf_nan=False)]
    delay_ms: Annotated[int, Field(ge=0, le=60_000)]
    page: Page
    timeout_ms: TimeoutMs
    look: Look = ALWAYS
    baseline: Key | None = None
    level: Level = Level.PAIR  # the rung of `capture.stability` to begin on
    examination: Examination = Examination.OFF
    checks: ChecksText = ""
    kind: Literal["capture"] = "capture"


@dataclass(frozen=True, slots=True)
class StoryError:
    """Why the story is errored, in its own words; origins are stripped from the stack."""

    code: ErrorCode
    message: Text
    stack: StackText


@dataclass(frozen=True, slots=True)
class Box:
    """A half-open rectangle in pixels: `x + width` is the first column outside."""

    x: Side
    y: Side
    width: Side
    height: Side


@dataclass(frozen=True, slots=True)
class OrderDependence:
    """Another story's doing: where it was shown before, this one's picture was not its baseline.

    Loaded by itself it was. `left` names what was found of the suspect in the page.
    """

    suspect: StoryName
    left: Annotated[tuple[ShortText, ...], Field(max_length=MAX_LEFT)]


@dataclass(frozen=True, slots=True)
class Captured:
    """A story's picture; an errored one may have none (`png` is empty, the sides are 0).

    `trace` is a zip, of a traced page only; `untraced` says why there is none.
    `page` is where it was taken in the end.
    One that never held still has others of it in `frames`, one after the other, each that long.
    """

    id: RequestId
    story_id: StoryName
    ending: Ending
    error: StoryError | None
    warnings: Warnings
    width_px: Side
    height_px: Side
    timings_ms: Annotated[
        dict[
            Label,
            Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)],
        ],
        Field(max_length=20),
    ]
    png: Picture = b""
    console: ConsoleLines = ()
    trace: TraceBytes = b""
    untraced: ShortText = ""
    page: Page = Page.SHARED
    order_dependence: OrderDependence | None = None
    level: Level = Level.PAIR
    shots: Annotated[int, Field(ge=0, le=100)] = 1
    frames: Annotated[bytes, Field(max_length=MAX_FRAMES_BYTES)] = b""
    frame_bytes: Annotated[
        tuple[Annotated[int, Field(ge=1, le=MAX_FRAMES_BYTES)], ...], Field(max_length=MAX_FRAMES)
    ] = ()
    examined: Examined | None = None
    ignored: Annotated[tuple[Box, ...], Field(max_length=MAX_IGNORED)] = ()
    kind: Literal["captured"] = "captured"


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How much two pictures may differ and still be called the same, and where."""

    threshold: Share
    include_aa: bool
    max_diff_pixels: Count | None
    max_diff_ratio: Share | None
    faint: Faint
    ignored: Annotated[tuple[Box, ...], Field(max_length=3 * MAX_IGNORED)] = ()


# For what moves: none of it may be missed, or it would be taken for a change later.
EVERY_PIXEL = CompareOptions(
    threshold=0.0, include_aa=True, max_diff_pixels=None, max_diff_ratio=None, faint=Faint.IGNORED
)


@dataclass(frozen=True, slots=True)
class Compare:
    """Compare two stored pictures; may be asked for beside a capture."""

    id: RequestId
    options: CompareOptions
    base: Picture = b""
    head: Picture = b""
    kind: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True)
class Size:
    """Of a picture, in pixels; 0 x 0 where it could not be decoded."""

    width: Side
    height: Side


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison; `mask` is a 1-bit PNG to be laid at (mask_x, mask_y), empty for none."""

    id: RequestId
    outcome: Outcome
    reason: Text
    base_size: Size
    head_size: Size
    raw_px: Count
    changed_px: Count
    faint_px: Count
    antialiased_px: Count
    regions: Annotated[tuple[Box, ...], Field(max_length=MAX_REGIONS)]
    engine: ShortText
    engine_version: ShortText
    metric: ShortText
    mask_x: Side
    mask_y: Side
    mask: Picture = b""
    kind: Literal["compared"] = "compared"


@dataclass(frozen=True, slots=True)
class Close:
    """End: close the browser and exit; the answer is the end of the stream."""

    id: RequestId
    kind: Literal["close"] = "close"


@dataclass(frozen=True, slots=True)
class Ready:
    """Said once after the start: what this child's pictures are made with."""

    facts: Annotated[dict[Label, ShortText], Field(max_length=40)]
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Alive:
    """The child's loop turns; said every few seconds, whatever else it does."""

    kind: Literal["alive"] = "alive"


@dataclass(frozen=True, slots=True)
class StageReached:
    """The capture in flight has reached a stage; the parent may renew its lease on it."""

    id: RequestId
    story_id: StoryName
    stage: Stage
    kind: Literal["stage"] = "stage"


@dataclass(frozen=True, slots=True)
class Failed:
    """The request could not be carried out at all."""

    id: RequestId
    code: FailureCode
    message: Text
    kind: Literal["failed"] = "failed"


ToChild = Open | ReadStories | Capture | Compare | Close
FromChild = Alive | Ready | Opened | StoriesRead | Captured | Compared | StageReached | Failed
