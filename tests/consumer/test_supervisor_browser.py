"""Real children with real browsers, as this machine isolates them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from consumer import processes
from consumer.browsers import find_browser, system_search
from consumer.isolation import Form, Ground, Isolation, choose_isolation
from consumer.messages import Captured, Page
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from consumer.supervisor import (
    Bundle,
    CaptureRequest,
    Child,
    ChildDiedError,
    Death,
    Limits,
    Supervisor,
)
from storyshelf.clock import SystemClock
from storyshelf.ids import ProjectId, StoryId
from tests.consumer.little_storybook import LittleStory, LittleStorybook, html

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]  # two browsers on a starved machine

ADAS, BENS = ProjectId(1), ProjectId(2)
LOOPS_FOR_EVER = LittleStory("await new Promise((done) => setTimeout(done, 50)); while (1) ;")
STORYBOOK = LittleStorybook({"well--story": html("<b>well</b>"), "loops--story": LOOPS_FOR_EVER})


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with open_scratch(tmp_path) as scratch:
        browser = find_browser(None, system_search(os.environ))
        yield Ground(browser, scratch, SlotUids(locks_folder()), os.environ)


@pytest.fixture
async def isolation(ground: Ground) -> Isolation:
    return await choose_isolation(ground)


@asynccontextmanager
async def a_supervisor(isolation: Isolation, slots: int = 1) -> AsyncIterator[Supervisor]:
    async with asyncio.TaskGroup() as group:
        supervisor = Supervisor(group, SystemClock(), isolation, Limits(slots=slots))
        try:
            yield supervisor
        finally:
            await supervisor.close()


async def captured(child: Child, story: str, began: asyncio.Event | None = None) -> Captured:
    files = STORYBOOK.lay(child.cell.bundle)
    for path in child.cell.bundle.iterdir():
        path.chmod(0o644)
    await child.open(Bundle("b1.localhost", child.cell.bundle, files))
    asked = CaptureRequest(StoryId(story), 640, 360, 1.0, 0, Page.SHARED, 30_000)
    return await child.capture(asked, (began or asyncio.Event()).set)


def browsers_of(child: Child) -> frozenset[int]:
    return processes.at_home(child.cell.home)


async def test_two_children_take_the_same_picture(isolation: Isolation) -> None:
    async with (
        a_supervisor(isolation, slots=2) as supervisor,
        supervisor.child(ADAS) as one,
        supervisor.child(ADAS) as other,
    ):
        first, second = await captured(one, "well--story"), await captured(other, "well--story")
        assert one.facts == other.facts
    assert first.png == second.png
    assert first.png.startswith(b"\x89PNG")


async def test_the_browsers_uid_is_its_cells(isolation: Isolation) -> None:
    async with a_supervisor(isolation) as supervisor, supervisor.child(ADAS) as child:
        await captured(child, "well--story")
        uid = os.getuid() if child.cell.browser.uid is None else child.cell.browser.uid
        browsers = browsers_of(child)
        assert browsers
        assert browsers <= processes.under_uid(uid)
        assert (uid != os.getuid()) == (isolation.form is Form.STRONG)


async def test_a_child_killed_in_mid_story_takes_its_browser_along_and_is_replaced(
    isolation: Isolation,
) -> None:
    async with a_supervisor(isolation) as supervisor:
        async with supervisor.child(ADAS) as child:
            browsers, died = await killed_in_mid_story(child)
        assert browsers
        assert processes.wait_gone(browsers, 0) == frozenset()
        assert (died.how, died.story) == (Death.SIGNAL, "loops--story")
        async with supervisor.child(ADAS) as child:
            assert (await captured(child, "well--story")).png


async def killed_in_mid_story(child: Child) -> tuple[frozenset[int], ChildDiedError]:
    began = asyncio.Event()
    shooting = asyncio.ensure_future(captured(child, "loops--story", began))
    await began.wait()
    browsers = browsers_of(child)
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildDiedError) as died:
        await shooting
    return browsers, died.value


async def test_children_of_two_projects_live_side_by_side_only_under_two_uids(
    isolation: Isolation,
) -> None:
    async with a_supervisor(isolation, slots=2) as supervisor:
        async with supervisor.child(ADAS) as adas:
            await captured(adas, "well--story")
        async with supervisor.child(BENS) as bens:
            await captured(bens, "well--story")
            lives = processes.wait_gone([adas.pid], 0) == {adas.pid}
            assert lives == (adas.cell.browser.uid != bens.cell.browser.uid)
            assert lives == (isolation.form is Form.STRONG)
