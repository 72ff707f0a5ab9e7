"""What the tests of children and their supervisor share: a child that misbehaves by its story."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from consumer.browsers import Browser, BrowserKind, BrowserSource, Sandbox
from consumer.isolation import ChildUser, Form, Ground, Isolation
from consumer.messages import CompareOptions, Faint, Page
from consumer.privileges import become_unreadable
from consumer.slot_uids import SlotUids
from consumer.supervisor import CaptureRequest, Child, ChildDiedError, Limits, Supervisor
from storyshelf.clock import Clock, SystemClock
from storyshelf.ids import ProjectId, StoryId
from tests.fakes import FakeClock

FAKE_CHILD = str(Path(__file__).with_name("fake_child.py"))
ADAS, BENS = ProjectId(1), ProjectId(2)
SECRET = "postgresql://storyshelf:secret@db/storyshelf"
SECRETS = {"STORYSHELF_DATABASE_URL": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "SSH_AUTH_SOCK": "x"}
OPTIONS = CompareOptions(
    threshold=0.1, include_aa=False, max_diff_pixels=None, max_diff_ratio=None, faint=Faint.IGNORED
)
# A fake clock runs ahead of every heartbeat; the tests of the pulse say how long they wait for it.
LIMITS = Limits(slots=2, close_s=5.0, silent_looks=10_000)


def weak_isolation(folder: Path) -> Isolation:
    become_unreadable()  # what `choose_isolation` does in the weak form
    browser = Browser(Path("/bin/true"), BrowserKind.HEADLESS_SHELL, BrowserSource.SETTING)
    ground = Ground(browser, folder, SlotUids(folder / "uids"), dict(os.environ) | SECRETS)
    return Isolation(ground, Form.WEAK, ChildUser.PARENT, Sandbox.OFF)


class OneUidForAll(Isolation):
    """Gives out children as the strong form does, but takes no rights that tests may not have."""

    def _is_strong(self) -> bool:
        return False


@asynccontextmanager
async def a_supervisor(
    isolation: Isolation,
    clock: Clock | None = None,
    limits: Limits = LIMITS,
    start: str = "starts",
) -> AsyncIterator[Supervisor]:
    async with asyncio.TaskGroup() as group:
        program = (FAKE_CHILD, start)
        supervisor = Supervisor(group, clock or SystemClock(), isolation, limits, program)
        try:
            yield supervisor
        finally:
            await supervisor.close()


def a_capture(story: str, timeout_ms: int = 30_000) -> CaptureRequest:
    return CaptureRequest(StoryId(story), 1280, 720, 1.0, 0, Page.SHARED, timeout_ms)


async def picture_of(child: Child, story: str) -> bytes:
    return (await child.capture(a_capture(story), lambda: None)).png


async def death_of(supervisor: Supervisor, story: str) -> ChildDiedError:
    async with supervisor.child(ADAS) as child:
        with pytest.raises(ChildDiedError) as died:
            await picture_of(child, story)
    return died.value


async def until_waiting(clock: FakeClock, seconds: float) -> None:
    """Return once a request that may take so long has been sent."""
    while clock.longest_sleep != seconds:
        await SystemClock().sleep(0)


async def died_capturing(
    child: Child, wanted: CaptureRequest, begun: asyncio.Event
) -> ChildDiedError:
    with pytest.raises(ChildDiedError) as died:
        await child.capture(wanted, begun.set)
    return died.value


async def died_starting(supervisor: Supervisor) -> ChildDiedError:
    with pytest.raises(ChildDiedError) as died:
        async with supervisor.child(ADAS):
            raise AssertionError("it must not be given out")
    return died.value
