"""What may be asked of a child, and what is known of a request in flight."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from consumer.channel import ChannelViolationError
from consumer.examined import Examination
from consumer.messages import (
    BundledFile,
    Capture,
    Captured,
    Compared,
    Failed,
    Opened,
    Outlet,
    Page,
    StageReached,
    StoriesRead,
    ToChild,
)
from consumer.pulse import BEAT_EVERY_S, SILENT_LOOKS
from storyshelf.bundle.look import ALWAYS, Look
from storyshelf.errors import StoryshelfError
from storyshelf.ids import BlobKey, StoryId
from storyshelf.snapshots.steadiness import Level

LEAST_MEMORY_BYTES = 2 << 30  # a browser, its largest pages and two large pictures to compare
MEMORY_SHARE = 0.75  # of the machine, for all children together
WORN_BYTES = 1_500 << 20  # a large Storybook takes 600 MiB; what is kept beyond this is never used
MAX_STAGES = 200  # of one request: each may renew a lease, so they must not go on for ever

Reply = Opened | StoriesRead | Captured | Compared


class RequestFailedError(StoryshelfError):
    """The child could not carry the request out and says so; it lives on."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(f"the child could not do it: {failed.message}", where=str(failed.code))
        self.code = failed.code
        self.message = failed.message


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the parent waits for what, and how much a child may use."""

    slots: int = 1  # children that live at the same time
    ready_s: float = 60.0  # a cold start of Python, driver and browser on a busy machine
    grace_s: float = 10.0  # beyond a request's own timeout, which the child should have kept
    open_s: float = 25.0  # under half a lease, like every wait in a handler
    compare_s: float = 25.0
    write_s: float = 25.0  # two pictures of the largest size through a socket, and then some
    close_s: float = 5.0
    last_look_s: float = 1.0  # after a deadline, for an answer that is here but was not read yet
    rest_s: float = 2.0  # for what a dead child wrote last
    stories_per_child: int = 500  # a browser's memory creeps
    memory_bytes: int | None = None
    worn_bytes: int = WORN_BYTES
    memory_every_s: float = 2.0
    look_every_s: float = BEAT_EVERY_S  # whether the child has said anything since the last look
    silent_looks: int = SILENT_LOOKS  # in a row, and it is taken for hung


def memory_ceiling_bytes(machine_bytes: int, children: int) -> int:
    """Return what one child may use, so that a story that hoards takes no other's memory."""
    return max(LEAST_MEMORY_BYTES, int(MEMORY_SHARE * machine_bytes) // children)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a child serves: files in a folder, named by their sha256, under one host name.

    Its stories reach that host alone, and what the outlet lets through.
    """

    host: str
    root: Path
    files: tuple[BundledFile, ...]
    outlet: Outlet | None = None


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """One story to photograph; `timeout_ms` covers all of it.

    `baseline` is the picture it will be compared with, where there is one.
    """

    story_id: StoryId
    viewport_width_px: int
    viewport_height_px: int
    scale: float
    delay_ms: int
    page: Page
    timeout_ms: int
    look: Look = ALWAYS
    baseline: BlobKey | None = None
    level: Level = Level.PAIR
    examination: Examination = Examination.OFF
    checks: str = ""


@dataclass(slots=True)
class Pending:
    """A request in flight: what may answer it, and what was heard of it so far."""

    request: ToChild
    answered_by: type[Reply]
    on_stage: Callable[[], None]
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Reply | Failed | None = None
    stages: int = 0

    @property
    def story(self) -> StoryId | None:
        """The story being rendered for it."""
        return self.request.story_id if isinstance(self.request, Capture) else None

    def note(self, message: Reply | Failed | StageReached) -> None:
        """Take what the child says of it; raise ChannelViolationError for what cannot be true."""
        if self.answered.is_set():
            raise ChannelViolationError("a second answer to one request")
        if isinstance(message, Captured | StageReached) and message.story_id != self.story:
            raise ChannelViolationError("an answer about another story")
        if isinstance(message, StageReached):
            self._note_stage()
            return
        if not isinstance(message, Failed | self.answered_by):
            raise ChannelViolationError(f"{message.kind} does not answer {self.request.kind}")
        self.answer = message
        self.answered.set()

    def _note_stage(self) -> None:
        self.stages += 1
        if self.stages > MAX_STAGES:
            raise ChannelViolationError(f"more than {MAX_STAGES} stages of one story")
        self.on_stage()
