"""A real browser for the tests of what only a real browser can show."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from consumer.browsers import Sandbox, find_browser, system_search
from consumer.bundle_server import BundleServer, ServedBundle, bundle_server
from consumer.capture.browser import BrowserChoice, LaunchedBrowser, browser_flags
from consumer.capture.sitting import OnStage, Picture
from consumer.capture.story_page import Order
from consumer.capture.studio import Studio
from consumer.isolation import Ground
from consumer.messages import BundledFile, Page, Stage
from consumer.scratch import open_scratch
from consumer.slot_uids import SlotUids, locks_folder
from storyshelf.clock import SystemClock
from storyshelf.ids import StoryId
from tests.consumer.little_storybook import laid

NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium")
HOST = "b1.localhost"
ORDER = Order(StoryId(""), viewport_width_px=640, viewport_height_px=360, scale=1.0, delay_ms=0)


@pytest.fixture(scope="module")
def browser_choice() -> BrowserChoice:
    """The browser of this machine; without one these tests fail, and say so."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found is not None, "install chromium-headless-shell to run the tests marked `browser`"
    return BrowserChoice(Path(found), "headless_shell", Sandbox.OFF)


@dataclass(frozen=True, slots=True)
class Set:
    """A studio with a bundle open in it."""

    studio: Studio
    server: BundleServer
    browser: LaunchedBrowser
    stages: list[Stage]
    at_stage: OnStage | None = None

    async def shoot(
        self,
        story_id: str,
        *,
        order: Order = ORDER,
        page: Page = Page.SHARED,
        timeout_ms: int = 30_000,
    ) -> Picture:
        async def on_stage(stage: Stage) -> None:
            self.stages.append(stage)
            if self.at_stage is not None:
                await self.at_stage(stage)

        asked = replace(order, story_id=StoryId(story_id))
        return await self.studio.shoot(asked, page, timeout_ms, on_stage)


class Layable(Protocol):
    """A Storybook that can be laid out as a parent does: each file under its hash."""

    def lay(self, root: Path) -> tuple[BundledFile, ...]: ...


@dataclass(frozen=True, slots=True)
class BuiltStorybook:
    """A folder that npm built."""

    folder: Path

    def lay(self, root: Path) -> tuple[BundledFile, ...]:
        """Copy every file under its hash; return the manifest."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return tuple(
            laid(root, path.relative_to(self.folder).as_posix(), path.read_bytes())
            for path in files
        )


Opener = Callable[[Layable], Awaitable[Set]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def launched(
    browser_choice: BrowserChoice,
) -> AsyncIterator[tuple[BundleServer, LaunchedBrowser]]:
    """One browser for a module's tests; each test opens a bundle, and so starts with no page."""
    async with bundle_server() as server:
        browser = LaunchedBrowser(browser_choice, browser_flags(server.port))
        yield server, browser
        await browser.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def opened(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> AsyncIterator[Opener]:
    """Open a little Storybook in a studio of its own."""
    async with opener_on(*launched, tmp_path) as opener:
        yield opener


@asynccontextmanager
async def opener_on(
    server: BundleServer, browser: LaunchedBrowser, root: Path
) -> AsyncIterator[Opener]:
    """Open bundles on that server, in that browser, with their files in that folder."""
    studio = Studio(browser, SystemClock())
    server.on_refusal = studio.note_refusal

    async def opener(storybook: Layable) -> Set:
        keys = {file.path: file.key for file in storybook.lay(root)}
        await studio.open(server.serve(ServedBundle(HOST, root, keys)))
        return Set(studio, server, browser, [])

    yield opener
    await studio.close()


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with open_scratch(tmp_path) as scratch:
        browser = find_browser(None, system_search(os.environ))
        yield Ground(browser, scratch, SlotUids(locks_folder()), os.environ)
