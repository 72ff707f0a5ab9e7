"""The process that owns a browser: it answers its parent's requests until the parent is gone.

It holds no credentials, no database and no way to the blob store: a story that takes it over can
falsify the verdicts of its own project, whose child it is, and nothing else.
"""

import argparse
import asyncio
import os
import signal
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from consumer.browsers import Sandbox
from consumer.bundle_server import (
    BundleServer,
    ServedBundle,
    base_in,
    bundle_server,
    fence_policy,
)
from consumer.capture.browser import (
    BrowserChoice,
    BrowserFailedError,
    LaunchedBrowser,
    browser_flags,
    environment_facts,
    installed_fonts,
)
from consumer.capture.story_page import Order
from consumer.capture.studio import NothingOpenError, Studio, UnreadableBundleError
from consumer.channel import Channel, ChannelClosedError, ChannelViolationError, child_end
from consumer.comparing import compared
from consumer.messages import (
    Capture,
    Captured,
    Close,
    Compare,
    Ending,
    Failed,
    FailureCode,
    FromChild,
    Open,
    Opened,
    ReadStories,
    Ready,
    Stage,
    StageReached,
    StoriesRead,
    ToChild,
)
from consumer.pulse import WRITE_S, beating
from storyshelf.clock import SystemClock
from storyshelf.errors import StoryshelfError

MAX_TEXT = 4_000  # as the channel allows
EXIT_FAILED = 3  # the browser cannot be had, or the parent broke the protocol
FAILURES: tuple[tuple[type[Exception], FailureCode], ...] = (
    (NothingOpenError, FailureCode.NOT_OPEN),
    (UnreadableBundleError, FailureCode.BUNDLE),
    (BrowserFailedError, FailureCode.BROWSER),
    (ChannelViolationError, FailureCode.TOO_LARGE),
)
ParentChannel = Channel[ToChild, FromChild]
Alone = Open | ReadStories | Capture  # one of these at a time; a comparison may run beside it
Request = Alone | Compare


@dataclass(frozen=True, slots=True)
class Options:
    """What the parent decides by the command line."""

    fd: int
    browser: BrowserChoice


class Child:
    """Answers requests one by one."""

    def __init__(self, channel: ParentChannel, server: BundleServer, studio: Studio) -> None:
        self._channel = channel
        self._server = server
        self._studio = studio
        self._alone: Alone | None = None

    async def serve(self) -> None:
        """Answer until the parent closes, or is gone."""
        working: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            async for request in self._requests():
                task = group.create_task(self._answer(request))
                working.add(task)
                task.add_done_callback(working.discard)
            for task in working:
                task.cancel()  # what is still being done is for nobody

    async def _requests(self) -> AsyncIterator[Request]:
        while True:
            try:
                request = await self._channel.read(None)
            except ChannelClosedError:
                return
            if isinstance(request, Close):
                return
            yield request

    async def _answer(self, request: Request) -> None:
        try:
            answer = await self._answer_to(request)
            await self._channel.write(answer, WRITE_S)
        except ChannelClosedError:
            return  # the reader sees it too, and ends the process
        except Exception as error:  # noqa: BLE001  # a request that fails is an answer, not an exit
            await self._channel.write(failure(request.id, error), WRITE_S)

    async def _answer_to(self, request: Request) -> FromChild:
        if isinstance(request, Compare):
            return await asyncio.to_thread(compared, request)
        if self._alone is not None:
            return Failed(request.id, FailureCode.BUSY, f"request {self._alone.id} is not done")
        self._alone = request
        try:
            return await self._do_alone(request)
        finally:
            self._alone = None

    async def _do_alone(self, request: Alone) -> FromChild:
        match request:
            case Open():
                keys = {file.path: file.key for file in request.files}
                policy = fence_policy(request.outlet.hosts if request.outlet else ())
                root = Path(request.root)
                bundle = ServedBundle(request.host, root, keys, policy, base_in(root, keys))
                outlet_port = request.outlet.port if request.outlet else None
                await self._studio.open(self._server.serve(bundle), outlet_port)
                return Opened(request.id, self._server.port)
            case ReadStories():
                read = await self._studio.read_stories(request.timeout_ms)
                return StoriesRead(request.id, read.stories, read.failed)
            case Capture():
                return await self._capture(request)

    async def _capture(self, request: Capture) -> Captured:
        async def on_stage(stage: Stage) -> None:
            await self._channel.write(StageReached(request.id, request.story_id, stage), WRITE_S)

        order = Order(
            story_id=request.story_id,
            viewport_width_px=request.viewport_width_px,
            viewport_height_px=request.viewport_height_px,
            scale=request.scale,
            delay_ms=request.delay_ms,
            look=request.look,
            baseline=request.baseline,
            level=request.level,
            examination=request.examination,
            checks=request.checks,
        )
        picture = await self._studio.shoot(order, request.page, request.timeout_ms, on_stage)
        return Captured(
            id=request.id,
            story_id=request.story_id,
            ending=Ending.OK if picture.error is None else Ending.ERRORED,
            error=picture.error,
            warnings=picture.warnings,
            width_px=picture.width_px,
            height_px=picture.height_px,
            timings_ms=picture.timings_ms,
            console=picture.console,
            page=picture.page,
            order_dependence=picture.order_dependence,
            examined=picture.examined,
            ignored=picture.ignored,
            png=picture.png,
            trace=picture.trace.content,
            untraced=picture.trace.missing,
            level=picture.level,
            shots=picture.shots,
            frames=b"".join(picture.frames),
            frame_bytes=tuple(map(len, picture.frames)),
        )


def failure(request_id: int, error: Exception) -> Failed:
    """Say why a request could not be carried out."""
    codes = (code for kind, code in FAILURES if isinstance(error, kind))
    text = str(error) if isinstance(error, StoryshelfError) else repr(error)
    return Failed(request_id, next(codes, FailureCode.INTERNAL), text[:MAX_TEXT])


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line that `consumer.child_process` writes."""
    parser = argparse.ArgumentParser(prog="consumer.child", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="the inherited end of the channel")
    parser.add_argument("--browser", type=Path, required=True, help="what to start as the browser")
    parser.add_argument("--browser-kind", required=True, help="its kind, for the environment")
    parser.add_argument("--sandbox", type=Sandbox, choices=list(Sandbox), required=True)
    read = parser.parse_args(arguments)
    return Options(read.fd, BrowserChoice(read.browser, read.browser_kind, read.sandbox))


async def run(options: Options) -> int:
    """Work until the parent is gone or asks for the end; return the exit code."""
    end = socket.socket(fileno=options.fd)
    end.set_inheritable(False)
    channel = await child_end(end)
    ended = asyncio.current_task()
    assert ended is not None, "run is a task"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.cancel)
    clock = SystemClock()
    async with bundle_server() as server, beating(channel, clock):
        browser = LaunchedBrowser(options.browser, browser_flags(server.port))
        try:
            await _announce(channel, browser, options.browser.kind)
            studio = Studio(browser, clock)
            server.on_refusal = studio.note_refusal
            await Child(channel, server, studio).serve()
        except BrowserFailedError as error:
            await channel.write(failure(0, error), WRITE_S)
            return EXIT_FAILED
        finally:
            await browser.stop()
    return 0


async def _announce(channel: ParentChannel, browser: LaunchedBrowser, kind: str) -> None:
    started, fonts = await browser.start(), await installed_fonts()
    await channel.write(Ready(environment_facts(kind, started.version, fonts)), WRITE_S)


def main() -> None:
    """Run as a process; what it has to say beside the channel goes to standard error."""
    code = EXIT_FAILED
    try:
        code = asyncio.new_event_loop().run_until_complete(run(parse(sys.argv[1:])))
    except asyncio.CancelledError:
        code = 0  # asked to, by TERM
    except Exception:  # noqa: BLE001  # the last line of a process: said, and told by the exit code
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)  # a comparison still on its thread would hold up an ordinary exit


if __name__ == "__main__":
    main()
