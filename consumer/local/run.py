"""The whole of a run: folder, browser, children, captures, and a report that is always there."""

import asyncio
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from consumer import allowance
from consumer.browsers import (
    Browser,
    NoBrowserError,
    UnusableBrowserError,
    find_browser,
    system_search,
)
from consumer.death import ChildDiedError
from consumer.isolation import Ground, Isolation, choose_isolation
from consumer.local.headed import find_headed, with_window
from consumer.local.out_folder import OutFolder, open_out
from consumer.local.page import page_of
from consumer.local.progress import Progress
from consumer.local.refusing import FOUND, INTERRUPTED, NO_BROWSER, OK, USAGE, CannotCaptureError
from consumer.local.report import Report, State
from consumer.local.session import Session, Traces, Wanted, Work
from consumer.local.storybook import Storybook, choose, read_storybook
from consumer.local.tally import Tally
from consumer.requests import Limits, memory_ceiling_bytes
from consumer.scratch import open_scratch, sweep_beside
from consumer.slot_sizes import default_slots
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import Supervisor
from storyshelf.bundle.accessibility import Accessibility
from storyshelf.bundle.parameters import Viewport
from storyshelf.client.version import own_version
from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError
from storyshelf.ids import DEFAULT_MODE

REPORT_EVERY_S = 10.0  # what a power cut may cost; writing 1,000 stories takes 0.1 s
PAGE, DOCUMENT = "index.html", "report.json"
SAID = {
    State.OK: "ok",
    State.WARNINGS: "ok with warnings",
    State.ERRORED: "errored",
    State.SKIPPED: "skipped",
    State.MISSING: "not captured",
}


class Complete(Enum):
    """Whether the capture came to its end."""

    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Machine:
    """What is captured with; `scratch` is where children live while it lasts."""

    browser: Path | None
    scratch: Path
    first_uid: int
    stories_per_child: int
    memory_bytes: int | None
    headed: bool
    environ: Mapping[str, str]

    def find_browser(self) -> Browser:
        """Return the browser to capture with; raises NoBrowserError and its like."""
        search = system_search(self.environ)
        if self.headed:
            return find_headed(self.browser, search, self.environ)
        return find_browser(self.browser, search)

    def limits(self, parallel: int) -> Limits:
        """Return what is waited for, and what a child may take."""
        derived = memory_ceiling_bytes(allowance.memory_bytes(), parallel)
        return Limits(
            slots=parallel,
            stories_per_child=self.stories_per_child,
            memory_bytes=self.memory_bytes or derived,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line; `parallel` none is as many as fit this machine."""

    storybook: Path
    out: Path
    patterns: tuple[str, ...]
    viewport: Viewport
    repeat: int
    parallel: int | None
    timeout_ms: int
    traces: Traces
    accessibility: Accessibility = Accessibility.OFF

    def wanted(self, storybook: Storybook) -> Wanted:
        """Return what that is of this Storybook; raises NoSuchStoryError."""
        fitting = default_slots(allowance.cpus(), allowance.memory_bytes(), plans=0).count
        return Wanted(
            stories=choose(storybook.stories, self.patterns),
            named=frozenset(self.patterns),
            viewport=self.viewport,
            repeat=self.repeat,
            parallel=self.parallel or fitting,
            timeout_ms=self.timeout_ms,
            traces=self.traces,
            accessibility=self.accessibility,
        )


async def capture(asked: Asked, machine: Machine, progress: Progress, clock: Clock) -> int:
    """Capture, and return the exit code; whatever is found, and a stop, is in the report.

    Raises StoryshelfError where nothing could be begun (`code_of` gives its exit code), and
    CancelledError where it was stopped so early that there is nothing to tell.
    """
    with _stoppable():
        storybook = await asyncio.to_thread(read_storybook, asked.storybook, progress.hashed)
        wanted = asked.wanted(storybook)
        browser = machine.find_browser()
        with open_out(asked.out, asked.storybook) as out, open_scratch(machine.scratch) as scratch:
            await sweep_beside(scratch)
            if machine.headed:
                browser = with_window(browser, scratch, machine.environ)
            uids = SlotUids(locks_folder(), machine.first_uid)
            isolation = await choose_isolation(Ground(browser, scratch, uids, machine.environ))
            run = _Run(asked, out, progress, clock)
            return await run.carry_out(isolation, machine, Work(storybook, wanted, out))


def code_of(error: StoryshelfError) -> int:
    """Return the exit code of what kept a capture from going on."""
    if isinstance(error, CannotCaptureError):
        return error.exit_code
    is_browser = isinstance(error, NoBrowserError | UnusableBrowserError | ChildDiedError)
    return NO_BROWSER if is_browser else USAGE


class _Run:
    """Keeps the report up to date while it lasts."""

    def __init__(self, asked: Asked, out: OutFolder, progress: Progress, clock: Clock) -> None:
        self._asked = asked
        self._out = out
        self._progress = progress
        self._clock = clock
        self._made_at = clock.now()
        self._began = self._written_at = clock.monotonic()

    async def carry_out(self, isolation: Isolation, machine: Machine, work: Work) -> int:
        limits = machine.limits(work.wanted.parallel)
        is_stopped = False
        session: Session | None = None
        try:
            async with asyncio.TaskGroup() as group:
                supervisor = Supervisor(group, self._clock, isolation, limits)
                session = Session(supervisor, work, self._clock, self._tell)
                try:
                    await session.run()
                finally:
                    await supervisor.close()
        except asyncio.CancelledError:
            is_stopped = True  # there is a report all the same
        assert session is not None, "nothing is awaited before it is made"
        is_complete = not is_stopped and session.failure is None
        report = self._write(session, Complete.YES if is_complete else Complete.NO)
        self._progress.end()
        self._sum_up(report)
        if session.failure is not None:
            raise session.failure
        if is_stopped:
            return INTERRUPTED
        return OK if report.is_clean else FOUND

    def _tell(self, session: Session, tally: Tally | None) -> None:
        """Show a capture that was made, or that the plan is; keep the report not too old."""
        if tally is None:
            self._progress.total = session.planned
            said = f"{len(session.tallies)} pictures, {session.planned} captures"
            self._progress.say(f"{said}, {session.parallel} at once")
        else:
            self._progress.captured(tally.result())
        if tally is None or self._clock.monotonic() - self._written_at >= REPORT_EVERY_S:
            self._write(session, Complete.NO)

    def _write(self, session: Session, complete: Complete) -> Report:
        now = self._clock.monotonic()
        report = Report(
            made_at=self._made_at.isoformat(timespec="seconds"),
            complete=complete is Complete.YES,
            storybook=str(self._asked.storybook),
            repeat=self._asked.repeat,
            took_ms=round((now - self._began) * 1_000),
            environment=session.environment,
            notes=tuple(session.notes),
            stories=tuple(tally.result() for tally in session.tallies),
            version=own_version(),
        )
        self._out.write(DOCUMENT, report.to_json())
        self._out.write(PAGE, page_of(report))
        self._written_at = self._clock.monotonic()
        return report

    def _sum_up(self, report: Report) -> None:
        counts = [f"{report.count(state)} {words}" for state, words in SAID.items()]
        self._progress.say(f"{len(report.stories)} pictures: {', '.join(counts)}")
        for story in report.stories:
            if story.moved:
                mode = "" if story.mode == DEFAULT_MODE else f" ({story.mode})"
                self._progress.say(f"moves: {story.id}{mode}  {story.how}")
        if self._asked.accessibility is not Accessibility.OFF:
            self._progress.say(f"accessibility rules are broken {report.violations} times")
        if self._asked.repeat > 1:
            self._progress.say(f"{report.moved} of {len(report.stories)} pictures move")
        if not report.complete:
            self._progress.say("The report is partial: the capture did not come to its end.")


@contextmanager
def _stoppable() -> Iterator[None]:
    """Have INT and TERM cancel this task, once: what it clears up then is not to be cut off."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "it runs in a task"
    is_asked = False

    def stop() -> None:
        nonlocal is_asked
        if not is_asked:
            is_asked = True
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
