"""The child as its parent sees it: a process at the other end of a socket."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from consumer import messages as m
from consumer import processes
from consumer.capture.browser import BrowserChoice
from consumer.channel import Channel, ChannelClosedError, parent_end
from consumer.child import parse
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.png import decode
from storyshelf.ids import StoryId
from storyshelf.snapshots.steadiness import Level
from tests.consumer.little_storybook import ENDLESS, SQUARE, LittleStory, LittleStorybook, html
from tests.diff.pictures import png

pytestmark = pytest.mark.browser

BOX = StoryId("box--red")
STORYBOOK = LittleStorybook(
    {
        BOX: html(SQUARE),
        "endless--story": ENDLESS,
        "asking--story": LittleStory("", parameters="{ chromatic: { delay: 7 } }"),
    }
)
OPTIONS = m.CompareOptions(
    threshold=0.1,
    include_aa=False,
    max_diff_pixels=None,
    max_diff_ratio=None,
    faint=m.Faint.COUNTS,
)


@dataclass(frozen=True, slots=True)
class RunningChild:
    process: asyncio.subprocess.Process
    channel: Channel[m.FromChild, m.ToChild]
    facts: dict[str, str]

    async def say(self, request: m.ToChild) -> None:
        await self.channel.write(request, 5)

    async def hear(self) -> m.FromChild:
        """Return the next answer; stages on the way to it are not one."""
        while isinstance(said := await self.hear_any(), m.StageReached):
            pass
        return said

    async def hear_any(self) -> m.FromChild:
        """Return the next message that is no heartbeat."""
        return await beatless(self.channel)

    async def ask(self, request: m.ToChild) -> m.FromChild:
        await self.say(request)
        return await self.hear()

    async def open(self, root: Path) -> m.FromChild:
        return await self.ask(m.Open(1, "b1.localhost", str(root), STORYBOOK.lay(root)))

    async def ended(self) -> int:
        async with asyncio.timeout(10):
            return await self.process.wait()


async def beatless(channel: Channel[m.FromChild, m.ToChild]) -> m.FromChild:
    while isinstance(said := await channel.read(15), m.Alive):
        pass
    return said


async def started(arguments: Sequence[str], end: socket.socket) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "consumer.child", f"--fd={end.fileno()}", *arguments,
        pass_fds=(end.fileno(),),
    )  # fmt: skip


def switches(choice: BrowserChoice) -> list[str]:
    kind, sandbox = choice.kind, choice.sandbox
    return [f"--browser={choice.executable}", f"--browser-kind={kind}", f"--sandbox={sandbox}"]


@pytest.fixture
async def child(browser_choice: BrowserChoice) -> AsyncIterator[RunningChild]:
    ours, theirs = socket.socketpair()
    process = await started(switches(browser_choice), theirs)
    theirs.close()
    channel = await parent_end(ours)
    ready = await beatless(channel)
    assert isinstance(ready, m.Ready)
    yield RunningChild(process, channel, ready.facts)
    await channel.close()
    await process.wait()


def capture(story_id: str, request_id: int = 5) -> m.Capture:
    return m.Capture(request_id, StoryId(story_id), 640, 360, 1.0, 0, m.Page.SHARED, 20_000)


async def test_a_child_says_what_its_pictures_depend_on(child: RunningChild) -> None:
    assert child.facts.keys() == {
        "browser", "version", "playwright", "flags", "fonts", "architecture", "capture",
    }  # fmt: skip
    assert child.facts["browser"] == "headless_shell"


async def test_a_child_says_that_it_lives_before_its_browser_does(
    browser_choice: BrowserChoice,
) -> None:
    ours, theirs = socket.socketpair()
    process = await started(switches(browser_choice), theirs)
    theirs.close()
    channel = await parent_end(ours)
    assert await channel.read(15) == m.Alive()
    assert isinstance(await beatless(channel), m.Ready)
    await channel.close()
    assert await process.wait() == 0


async def test_a_story_comes_back_as_a_picture_with_its_stages(
    child: RunningChild, tmp_path: Path
) -> None:
    assert isinstance(await child.open(tmp_path), m.Opened)
    await child.say(capture(BOX))
    stages = [await child.hear_any() for _ in range(4)]
    captured = await child.hear()
    assert [said.stage for said in stages if isinstance(said, m.StageReached)] == [
        m.Stage.OPENING, m.Stage.RENDERING, m.Stage.SETTLING, m.Stage.SHOOTING,
    ]  # fmt: skip
    assert isinstance(captured, m.Captured)
    assert (captured.id, captured.ending) == (5, m.Ending.OK)
    assert decode(captured.png).shape == (captured.height_px, captured.width_px, 4)


async def test_a_story_that_needed_more_before_begins_there(
    child: RunningChild, tmp_path: Path
) -> None:
    await child.open(tmp_path)
    captured = await child.ask(replace(capture(BOX), level=Level.AGAIN))
    assert isinstance(captured, m.Captured)
    assert (captured.ending, captured.level) == (m.Ending.OK, Level.AGAIN)


async def test_the_stories_parameters_are_read(child: RunningChild, tmp_path: Path) -> None:
    await child.open(tmp_path)
    read = await child.ask(m.ReadStories(2, 10_000))
    assert isinstance(read, m.StoriesRead)
    assert [story.chromatic for story in read.stories] == [{}, {}, {"delay": 7}]


async def test_pictures_are_compared_beside_a_capture(child: RunningChild, tmp_path: Path) -> None:
    await child.open(tmp_path)
    await child.say(capture("endless--story"))
    changed = np.full((8, 8, 4), 255, np.uint8)
    changed[2:5, 3:7, :3] = 0
    base = png(np.full((8, 8, 4), 255, np.uint8))
    compared = await child.ask(m.Compare(9, OPTIONS, base, png(changed)))
    assert isinstance(compared, m.Compared)
    assert (compared.id, compared.outcome, compared.changed_px) == (9, Outcome.CHANGED, 12)
    assert compared.regions == (m.Box(3, 2, 4, 3),)
    assert (compared.mask_x, compared.mask_y) == (3, 2)
    assert compared.mask.startswith(b"\x89PNG")


async def test_a_second_story_at_the_same_time_is_refused(
    child: RunningChild, tmp_path: Path
) -> None:
    await child.open(tmp_path)
    await child.say(capture("endless--story"))
    refused = await child.ask(capture(BOX, request_id=6))
    assert isinstance(refused, m.Failed)
    assert (refused.id, refused.code) == (6, m.FailureCode.BUSY)


async def test_a_story_before_a_bundle_is_refused(child: RunningChild) -> None:
    refused = await child.ask(capture(BOX))
    assert isinstance(refused, m.Failed)
    assert (refused.id, refused.code) == (5, m.FailureCode.NOT_OPEN)


async def test_a_child_ends_when_it_is_closed(child: RunningChild, tmp_path: Path) -> None:
    await child.open(tmp_path)
    await child.say(m.Close(9))
    assert await child.ended() == 0


async def test_a_child_ends_with_its_parent_in_the_middle_of_a_story(
    child: RunningChild, tmp_path: Path
) -> None:
    await child.open(tmp_path)
    await child.say(capture("endless--story"))
    await child.hear_any()
    await child.channel.close()
    assert await child.ended() == 0


async def test_a_child_ends_on_term_in_the_middle_of_a_story(
    child: RunningChild, tmp_path: Path
) -> None:
    await child.open(tmp_path)
    await child.say(capture("endless--story"))
    await child.hear_any()
    child.process.send_signal(signal.SIGTERM)
    assert await child.ended() == 0


async def test_a_child_that_is_killed_leaves_no_browser_behind(child: RunningChild) -> None:
    below = processes.descendants(child.process.pid)
    child.process.kill()
    await child.process.wait()
    with pytest.raises(ChannelClosedError):
        await child.hear()
    assert len(below) > 1
    assert await asyncio.to_thread(processes.wait_gone, below, 10.0) == frozenset()


async def test_a_browser_that_does_not_start_is_told_before_the_end() -> None:
    ours, theirs = socket.socketpair()
    arguments = ["--browser=/bin/false", "--browser-kind=chromium", "--sandbox=off"]
    process = await started(arguments, theirs)
    theirs.close()
    channel = await parent_end(ours)
    failed = await beatless(channel)
    assert isinstance(failed, m.Failed)
    assert failed.code is m.FailureCode.BROWSER
    assert await process.wait() == 3
    await channel.close()


def test_the_command_line_names_every_choice() -> None:
    arguments = ["--fd=5", "--browser=/b", "--browser-kind=chromium", "--sandbox=maybe"]
    with pytest.raises(SystemExit):
        parse(arguments)
