"""One run: the bundle read once, then each story captured by as many children as are wished."""

import asyncio
import shutil
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path

from consumer.death import Cause, ChildDiedError, Death
from consumer.kinds.blame import OF_A_STORY
from consumer.local.out_folder import OutFolder
from consumer.local.planning import parameters_of, plan, shuffled
from consumer.local.storybook import Storybook
from consumer.local.tally import Tally
from consumer.messages import (
    BundledFile,
    Captured,
    Compared,
    CompareOptions,
    Page,
    StoriesRead,
)
from consumer.supervisor import Bundle, Child, RequestFailedError, Supervisor
from consumer.trace_file import BadTraceError, trace_in
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.index import Story
from storyshelf.bundle.parameters import ReadParameters, Viewport
from storyshelf.clock import Clock
from storyshelf.diff.png import BadPngError, read_header
from storyshelf.errors import StoryshelfError
from storyshelf.ids import ProjectId, StoryId

NOBODYS = ProjectId(0)  # no project has this id
HOST = "b0.localhost"
READ_TIMEOUT_MS = 60_000  # for the first load of a large Storybook on a busy machine
CRASHES_PER_STORY = 2  # as with a consumer: one can be chance
DEATHS_BETWEEN_STORIES = 3
READABLE = 0o644


class NotLaidError(StoryshelfError):
    """The Storybook's files cannot be copied to where the browser's process reads them."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"The Storybook's files could not be copied: {error.strerror or error}",
            where=str(folder),
            next_step="Make room, or set TMPDIR to where there is some; do not build meanwhile.",
        )


class Traces(Enum):
    """Of which stories a trace is recorded besides."""

    NONE = "none"
    ODD = "odd"  # errored, or not holding still


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to capture and how."""

    stories: tuple[Story, ...]
    named: frozenset[str]  # stories that were asked for by their very id
    viewport: Viewport
    repeat: int
    parallel: int
    timeout_ms: int
    traces: Traces = Traces.NONE
    accessibility: Accessibility = Accessibility.OFF


@dataclass(frozen=True, slots=True)
class Work:
    """What of which Storybook, and where to."""

    storybook: Storybook
    wanted: Wanted
    out: OutFolder


@dataclass(slots=True)
class _Turn:
    """One capture to make; `deaths` of children while they made it."""

    tally: Tally
    deaths: int = 0


@dataclass(slots=True)
class Session:
    """Captures; what was found so far can be read at any time, also after it was cancelled."""

    supervisor: Supervisor
    work: Work
    clock: Clock
    tell: "Callable[[Session, Tally | None], None]"  # that the plan is made, and of each capture
    planned: int = 0  # captures in all
    tallies: list[Tally] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    failure: StoryshelfError | None = None  # why it could not go on
    _left: deque[_Turn] = field(default_factory=deque)
    _deaths: int = 0  # in a row, with no story in flight

    @property
    def parallel(self) -> int:
        """Return how many browsers work at once."""
        return min(self.work.wanted.parallel, self.planned)

    async def run(self) -> None:
        """Capture everything, or set `failure`."""
        self._expect({})  # what a stop during the load leaves in the report
        self.notes.extend(self.work.storybook.warnings)
        read = await self._read_parameters()
        self._expect({} if read is None else parameters_of(read))
        rounds = {one.planned.stem: one for one in self.tallies if not one.planned.skipped}
        shot = [one.planned for one in rounds.values()]
        for number in range(self.work.wanted.repeat):
            self._left.extend(_Turn(rounds[one.stem]) for one in shuffled(shot, number))
        self.planned = len(self._left)
        self.tell(self, None)
        async with asyncio.TaskGroup() as workers:
            for _ in range(self.parallel):
                workers.create_task(self._work())

    def _expect(self, parameters: Mapping[StoryId, ReadParameters]) -> None:
        wanted = self.work.wanted
        planned = plan(wanted.stories, parameters, wanted.viewport, wanted.named)
        self.tallies = [Tally(one) for one in planned]

    async def _read_parameters(self) -> StoriesRead | None:
        """Load the bundle once; what cannot be loaded is captured all the same, and says why."""
        try:
            async with self.supervisor.child(NOBODYS) as child:
                await self._open(child)
                read = await child.read_stories(READ_TIMEOUT_MS)
        except (ChildDiedError, RequestFailedError) as error:
            if isinstance(error, ChildDiedError) and not self.environment:
                self.failure = error  # it did not even start
            self.notes.append(f"The stories' parameters could not be read: {error.what}")
            return None
        self.notes.extend(f"{one.code}: {one.text}" for one in read.failed)
        return read

    async def _work(self) -> None:
        while self._left and self.failure is None:
            try:
                async with self.supervisor.child(NOBODYS) as child:
                    await self._open(child)
                    await self._capture_with(child)
            except ChildDiedError as died:
                if died.story is None:
                    self._deaths += 1
                if self._deaths >= DEATHS_BETWEEN_STORIES:
                    self.failure = died
            except StoryshelfError as error:
                self.failure = error

    async def _capture_with(self, child: Child) -> None:
        while self._left and child.is_usable and self.failure is None:
            turn = self._left.popleft()
            try:
                await self._capture(child, turn)
            except ChildDiedError as died:
                self._survive(turn, died)
                raise
            self._deaths = 0
            self.tell(self, turn.tally)

    async def _capture(self, child: Child, turn: _Turn) -> None:
        page = Page.SHARED if self.work.wanted.repeat == 1 else Page.FRESH
        wanted = self.work.wanted
        request = turn.tally.planned.request(page, wanted.timeout_ms, wanted.accessibility)
        began = self.clock.monotonic()
        try:
            captured = await child.capture(request, lambda: None)
        except RequestFailedError as failed:
            if failed.code not in OF_A_STORY:
                raise
            raise _condemned(child, request.story_id, f"it gave up: {failed.message}") from failed
        took_ms = (self.clock.monotonic() - began) * 1_000
        _require_picture(child, captured)
        await turn.tally.add(captured, took_ms, self.work.out, partial(_compared, child))
        if self.work.wanted.traces is Traces.ODD and turn.tally.wants_trace:
            await self._trace(child, turn.tally)

    async def _trace(self, child: Child, tally: Tally) -> None:
        """Capture it once more with its trace; whatever comes of that, its result is known."""
        request = tally.planned.request(Page.TRACED, self.work.wanted.timeout_ms)
        try:
            captured = await child.capture(request, lambda: None)
            content = await trace_in(captured)
        except (ChildDiedError, RequestFailedError, BadTraceError) as error:
            tally.untraced = error.what
        else:
            tally.keep_trace(content, self.work.out)

    def _survive(self, turn: _Turn, died: ChildDiedError) -> None:
        """Have the story tried again, unless children die on it; then it is errored."""
        if died.story is not None:
            turn.deaths += 1
        if turn.deaths < CRASHES_PER_STORY:
            self._left.appendleft(turn)
            return
        turn.tally.crash(f"The browser's process died twice on it: {died.detail}")
        self.tell(self, turn.tally)

    async def _open(self, child: Child) -> None:
        """Serve the bundle in this child; a child that served it before has its files already."""
        self.environment = child.facts
        hashed = self.work.storybook.hashed
        try:
            await asyncio.to_thread(_lay, hashed.sources, child.cell.bundle)
        except OSError as error:
            raise NotLaidError(child.cell.bundle, error) from error
        served = tuple(BundledFile(one.path, one.sha256) for one in hashed.manifest.files)
        await child.open(Bundle(HOST, child.cell.bundle, served))


async def _compared(
    child: Child, options: CompareOptions, base: bytes, head: bytes
) -> Compared | None:
    """Compare two pictures; where that fails, they differ all the same."""
    try:
        return await child.compare(options, base, head)
    except (ChildDiedError, RequestFailedError):
        return None


def _lay(sources: Mapping[str, Path], folder: Path) -> None:
    for key, source in sources.items():
        target = folder / key
        if not target.exists():
            shutil.copyfile(source, target)
            target.chmod(READABLE)


def _require_picture(child: Child, captured: Captured) -> None:
    """Refuse what is not the picture that was said: nothing of it may come into the folder."""
    if not captured.png:
        return
    try:
        header = read_header(captured.png)
    except BadPngError as error:
        raise _condemned(child, captured.story_id, error.problem) from error
    if (header.width_px, header.height_px) != (captured.width_px, captured.height_px):
        raise _condemned(child, captured.story_id, "the picture's size is not what was said")


def _condemned(child: Child, story_id: StoryId, detail: str) -> ChildDiedError:
    cause = Cause(Death.VIOLATION, detail)
    child.condemn(cause)
    return ChildDiedError(cause, story_id)
