"""Children in both forms of isolation, with a little Storybook open in them."""

import os

from consumer.browsers import Sandbox
from consumer.isolation import ChildUser, Form, Ground, Isolation, choose_isolation
from consumer.messages import Captured, Outlet, Page
from consumer.requests import Bundle, CaptureRequest
from consumer.supervisor import Child
from storyshelf.ids import StoryId
from tests.consumer.conftest import HOST
from tests.consumer.little_storybook import LittleStorybook


async def isolated(ground: Ground, form: Form) -> Isolation:
    """The weak form, or the strongest that this machine has."""
    if form is Form.STRONG:
        return await choose_isolation(ground)
    sandbox = Sandbox.OFF if os.geteuid() == 0 else Sandbox.ON  # Chromium refuses it to root
    return Isolation(ground, Form.WEAK, ChildUser.PARENT, sandbox)


async def opened_in(child: Child, storybook: LittleStorybook, outlet: Outlet | None = None) -> None:
    files = storybook.lay(child.cell.bundle)
    for path in child.cell.bundle.iterdir():
        path.chmod(0o644)
    await child.open(Bundle(HOST, child.cell.bundle, files, outlet))


async def captured(child: Child, story: str) -> Captured:
    asked = CaptureRequest(StoryId(story), 640, 360, 1.0, 0, Page.SHARED, 30_000)
    return await child.capture(asked, lambda: None)
