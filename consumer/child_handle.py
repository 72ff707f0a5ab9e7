"""The parent's hold on one child: requests with deadlines, and the task that sees it die."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import TypeVar

import structlog

from consumer import processes
from consumer.cell import Cell
from consumer.channel import ChannelClosedError, ChannelDeadlineError, ChannelViolationError
from consumer.child_process import ChildProcess
from consumer.death import Cause, ChildDiedError, Death, Remains, autopsy
from consumer.messages import (
    Alive,
    Capture,
    Captured,
    Close,
    Compare,
    Compared,
    CompareOptions,
    Failed,
    FailureCode,
    FromChild,
    Open,
    Opened,
    ReadStories,
    Ready,
    StoriesRead,
    ToChild,
)
from consumer.pulse import Pulse
from consumer.requests import Bundle, CaptureRequest, Limits, Pending, RequestFailedError
from consumer.wear import Wear
from storyshelf.clock import Clock
from storyshelf.ids import ProjectId, StoryId

Answer = TypeVar("Answer", Opened, StoriesRead, Captured, Compared)
STOPPED = Cause(Death.STOPPED, "stopped by its consumer")
GIVEN_UP = Cause(Death.STOPPED, "stopped because its request was given up")

log = structlog.get_logger()


class Child:
    """One child of one project. `run` is its life and belongs in a task group."""

    def __init__(
        self,
        project_id: ProjectId,
        cell: Cell,
        process: ChildProcess,
        clock: Clock,
        limits: Limits,
    ) -> None:
        self.project_id = project_id
        self.cell = cell
        self.facts: dict[str, str] = {}
        self.stories = 0
        self._process = process
        self._clock = clock
        self._limits = limits
        self._pulse = Pulse(limits.silent_looks, clock.monotonic())
        self._wear = Wear(limits.worn_bytes)
        self._pending: dict[int, Pending] = {}
        self._ids = count(1)
        self._ready = asyncio.Event()
        self._cause: Cause | None = None
        self._died_with: StoryId | None = None
        self._exited = asyncio.Event()  # the process has ended
        self._over = asyncio.Event()  # and it is known why

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def in_flight(self) -> StoryId | None:
        """The story it is rendering, None between stories."""
        return next((each.story for each in self._pending.values() if each.story), None)

    @property
    def is_usable(self) -> bool:
        """Whether another request may be made of it: idle, and not worn out."""
        is_used_up = self.stories >= self._limits.stories_per_child
        return self.is_idle and not is_used_up and not self._wear.is_worn

    @property
    def is_idle(self) -> bool:
        """Whether it lives, has started and owes no answer.

        A job may be cancelled while its child starts: the next must not be lent that child, since
        what it is made with is not known yet.
        """
        is_alive = self._cause is None and not self._process.has_ended
        return is_alive and self._ready.is_set() and not self._pending

    async def ready(self) -> None:
        """Wait until its browser runs; raise ChildDiedError if that does not happen."""
        if not await self._clock.wait_for(self._ready, self._limits.ready_s):
            self.condemn(Cause(Death.DEADLINE, f"not ready after {self._limits.ready_s:g} s"))
        await self._refuse_if_dead()

    async def open(self, bundle: Bundle) -> Opened:
        """Serve this bundle from now on."""
        root = str(bundle.root)
        message = Open(next(self._ids), bundle.host, root, bundle.files, bundle.outlet)
        return await self._ask(Opened, message, self._limits.open_s)

    async def read_stories(self, timeout_ms: int) -> StoriesRead:
        """Load the bundle once and return what its stories' parameters ask for."""
        message = ReadStories(next(self._ids), timeout_ms)
        return await self._ask(StoriesRead, message, self._deadline_s(timeout_ms))

    async def capture(self, wanted: CaptureRequest, on_stage: Callable[[], None]) -> Captured:
        """Photograph a story; `on_stage` is called at each sign of real progress."""
        self.stories += 1
        message = Capture(
            next(self._ids),
            wanted.story_id,
            wanted.viewport_width_px,
            wanted.viewport_height_px,
            wanted.scale,
            wanted.delay_ms,
            wanted.page,
            wanted.timeout_ms,
            wanted.look,
            wanted.baseline,
            wanted.level,
            wanted.examination,
            wanted.checks,
        )
        return await self._ask(Captured, message, self._deadline_s(wanted.timeout_ms), on_stage)

    async def compare(self, options: CompareOptions, base: bytes, head: bytes) -> Compared:
        """Compare two PNGs; may run beside a capture."""
        message = Compare(next(self._ids), options, base, head)
        return await self._ask(Compared, message, self._limits.compare_s)

    def condemn(self, cause: Cause) -> None:
        """Kill it for this cause; whoever waits for an answer hears of it once it is dead."""
        if self._cause is None and not self._over.is_set():
            self._cause = cause
            self._died_with = self.in_flight
        self._process.kill()

    async def close(self) -> None:
        """Ask it to end, and kill it if it does not; harmless when it is dead."""
        if self.is_idle:
            self._cause = STOPPED
            await self._say_goodbye()
        if not self._process.has_ended:
            self.condemn(STOPPED)
        await self._over.wait()

    async def run(self) -> None:
        """Live: listen, watch, and at the end tell all who wait why there is no answer."""
        counter = processes.oom_counter()
        kills_before = processes.oom_kills(counter)
        code = 0
        try:
            code = await self._live()
        finally:
            kills = processes.oom_kills(counter) - kills_before
            self._bury(Remains(code, kills, self._process.last_words))
            await self._process.close()

    async def _live(self) -> int:
        """Return the exit code; nothing below the child runs any more then."""
        async with asyncio.TaskGroup() as group:
            talking = {
                group.create_task(self._listen()),
                group.create_task(self._process.drain_stderr()),
            }
            watching = {
                group.create_task(self._watch_memory()),
                group.create_task(self._watch_pulse()),
            }
            try:
                code = await self._process.wait()
                self._exited.set()
                await asyncio.wait(talking, timeout=self._limits.rest_s)
            finally:
                self._process.kill()
                for task in (*talking, *watching):
                    task.cancel()
        return code

    async def _listen(self) -> None:
        try:
            while True:
                self._take(await self._process.channel.read(None))
        except ChannelViolationError as error:
            self.condemn(Cause(Death.VIOLATION, error.what))
        except ChannelClosedError:
            if not await self._clock.wait_for(self._exited, self._limits.rest_s):
                self.condemn(Cause(Death.VIOLATION, "it closed its end and lives on"))

    async def _watch_memory(self) -> None:
        ceiling = self._limits.memory_bytes
        while ceiling is not None:
            await self._clock.sleep(self._limits.memory_every_s)
            try:
                used = await asyncio.to_thread(self._process.used_bytes)
            except RuntimeError:  # no thread is to be had where a story forks without end
                continue
            if self._wear.note(used, self.stories):
                log.info("child.worn", pid=self.pid, used_mb=used >> 20, stories=self.stories)
            if used > ceiling:
                detail = f"{used >> 20} MiB in use, over the ceiling of {ceiling >> 20} MiB"
                self.condemn(Cause(Death.OUT_OF_MEMORY, detail))

    async def _watch_pulse(self) -> None:
        """Find the child that says nothing any more, lent or not."""
        while not self._pulse.is_gone():
            await self._clock.sleep(self._limits.look_every_s)
        silence_s = self._limits.look_every_s * self._limits.silent_looks
        self.condemn(Cause(Death.HUNG, f"no sign of life in {silence_s:g} s"))

    def _take(self, message: FromChild) -> None:
        self._pulse.hear()
        if isinstance(message, Alive):
            if self._pulse.is_flooded(self._clock.monotonic()):
                raise ChannelViolationError("it says that it is alive without end")
            return
        if isinstance(message, Ready):
            if self._ready.is_set():
                raise ChannelViolationError("ready for a second time")
            self.facts = message.facts
            self._ready.set()
            return
        pending = self._pending.get(message.id)
        if pending is None and isinstance(message, Failed) and not self._ready.is_set():
            self.condemn(Cause(Death.EXIT, f"it did not start: {message.message}"))
            return
        if pending is None:
            raise ChannelViolationError(f"{message.kind} to a request nobody made")
        pending.note(message)

    def _bury(self, remains: Remains) -> None:
        cause = self._cause or autopsy(remains)
        self._died_with = self._died_with or self.in_flight
        self._cause = cause
        self._over.set()
        self._ready.set()
        for pending in self._pending.values():
            pending.answered.set()
        log.info(
            "child.ended",
            pid=self.pid,
            project=self.project_id,
            how=str(cause.how),
            detail=cause.detail,
            story=self._died_with,
            stories=self.stories,
        )

    async def _ask(
        self,
        answered_by: type[Answer],
        message: ToChild,
        deadline_s: float,
        on_stage: Callable[[], None] = lambda: None,
    ) -> Answer:
        await self._refuse_if_dead()
        pending = self._pending[message.id] = Pending(message, answered_by, on_stage)
        try:
            await self._send(message)
            if not await self._is_answered(pending, deadline_s):
                await self._die(_overdue(pending, deadline_s))
        except asyncio.CancelledError:
            self.condemn(GIVEN_UP)  # its answer would come into the next request's time
            raise
        finally:
            del self._pending[message.id]
        return await self._believed(pending, answered_by)

    async def _is_answered(self, pending: Pending, deadline_s: float) -> bool:
        """Wait for the answer, and a moment longer for what came while we were stopped ourselves.

        Such an answer waits to be read when the deadline has long passed on our clock.
        """
        if await self._clock.wait_for(pending.answered, deadline_s):
            return True
        return await self._clock.wait_for(pending.answered, self._limits.last_look_s)

    async def _send(self, message: ToChild) -> None:
        try:
            await self._process.channel.write(message, self._limits.write_s)
        except ChannelDeadlineError as error:
            await self._die(Cause(Death.HUNG, error.what))
        except ChannelClosedError:
            await self._over.wait()  # `_listen` sees the same end

    async def _believed(self, pending: Pending, answered_by: type[Answer]) -> Answer:
        answer = pending.answer
        if isinstance(answer, answered_by):
            return answer
        if isinstance(answer, Failed):
            if answer.code is not FailureCode.BROWSER:
                raise RequestFailedError(answer)
            await self._die(Cause(Death.EXIT, f"its browser is gone: {answer.message}"))
        raise self._obituary(pending.story)

    async def _die(self, cause: Cause) -> None:
        self.condemn(cause)
        await self._over.wait()

    async def _refuse_if_dead(self) -> None:
        if self._cause is not None:
            await self._over.wait()
            raise self._obituary(None)

    def _obituary(self, story: StoryId | None) -> ChildDiedError:
        assert self._cause is not None, "it is told only of the dead"
        return ChildDiedError(self._cause, story)

    async def _say_goodbye(self) -> None:
        try:
            await self._process.channel.write(Close(next(self._ids)), self._limits.close_s)
        except (ChannelClosedError, ChannelDeadlineError):
            return  # it is killed next
        await self._clock.wait_for(self._exited, self._limits.close_s)

    def _deadline_s(self, timeout_ms: int) -> float:
        return timeout_ms / 1000 + self._limits.grace_s


def _overdue(pending: Pending, deadline_s: float) -> Cause:
    if pending.stages:
        return Cause(
            Death.DEADLINE, f"{pending.request.kind} went on for more than {deadline_s:g} s"
        )
    return Cause(Death.HUNG, f"no sign of life in {deadline_s:g} s of {pending.request.kind}")
