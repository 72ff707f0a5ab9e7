"""A real browser with an outlet: allowed hosts are reached through it, and nothing else is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from consumer.bundle_server import BundleServer, ServedBundle, fence_policy
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.sitting import Picture
from consumer.capture.studio import Studio
from consumer.isolation import Form, Ground
from consumer.messages import ErrorCode, Outlet, Page, WarningCode
from storyshelf.clock import SystemClock
from storyshelf.diff.png import decode
from storyshelf.ids import BuildId, ProjectId, StoryId
from tests.consumer.conftest import HOST, ORDER
from tests.consumer.forms import captured, isolated, opened_in
from tests.consumer.hosts import Said, hosts, outlets
from tests.consumer.little_storybook import BLUE, LittleStory, LittleStorybook, html
from tests.consumer.roads import EVERY, LEAVING, Town
from tests.consumer.test_supervisor_browser import a_supervisor
from tests.storybooks.victim import victim

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(60),
]

SQUARE = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'>"
    b"<rect width='40' height='40' fill='blue'/></svg>"
)
SVG = {"content-type": "image/svg+xml"}
SAID = {
    "/blue.svg": Said(SQUARE, headers=SVG),
    "/data.json": Said(b"{}", headers={"access-control-allow-origin": "*"}),
    "/away": Said(status=302, headers={"location": "http://evil.test/blue.svg"}),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A studio whose pages have an outlet."""

    studio: Studio
    server: BundleServer
    root: Path
    outlet: Outlet

    async def open(self, storybook: LittleStorybook) -> None:
        keys = {file.path: file.key for file in storybook.lay(self.root)}
        policy = fence_policy(self.outlet.hosts)
        origin = self.server.serve(ServedBundle(HOST, self.root, keys, policy))
        await self.studio.open(origin, self.outlet.port)

    async def shoot(self, story: str, page: Page = Page.SHARED) -> Picture:
        async def on_stage(_: object) -> None:
            pass

        order = replace(ORDER, story_id=StoryId(story))
        return await self.studio.shoot(order, page, 30_000, on_stage)


@asynccontextmanager
async def a_scene(
    launched: tuple[BundleServer, LaunchedBrowser], root: Path, *allowed: str
) -> AsyncIterator[Scene]:
    server, browser = launched
    studio = Studio(browser, SystemClock())
    server.on_refusal = studio.note_refusal
    async with outlets(allowed).opened(ProjectId(1), BuildId(1)) as outlet:
        assert outlet is not None
        yield Scene(studio, server, root, outlet)
        await studio.close()


async def test_an_image_of_an_allowed_host_is_shown_and_asked_for_once(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    async with hosts(SAID) as found:
        image = html(f"<img src='http://img.a.test:{found.port}/blue.svg'>")
        async with a_scene(launched, tmp_path, f"*.a.test:{found.port}") as scene:
            await scene.open(LittleStorybook({"a--one": image, "a--two": image}))
            first, second = await scene.shoot("a--one"), await scene.shoot("a--two")
            fresh = await scene.shoot("a--one", Page.FRESH)
    assert (first.warnings, first.error) == ((), None)
    assert np.count_nonzero((decode(first.png)[..., :3] == BLUE).all(axis=2)) == 40 * 40
    assert first.png == second.png == fresh.png
    assert found.asked == ["GET img.a.test/blue.svg"]


async def test_data_of_an_allowed_host_can_be_read_and_nothing_is_sent_there(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    async with hosts(SAID) as found:
        url = f"http://a.test:{found.port}/data.json"
        reads = LittleStory(
            f"const read = await fetch('{url}');"
            "root.textContent = JSON.stringify(await read.json());"
            f"const sent = await fetch('{url}', {{ method: 'POST', body: 'x' }}).catch(() => null);"
            "if (sent) throw new Error('it was answered');"
        )
        async with a_scene(launched, tmp_path, f"a.test:{found.port}") as scene:
            await scene.open(LittleStorybook({"a--reads": reads}))
            picture = await scene.shoot("a--reads")
    assert picture.error is None
    assert found.asked == ["GET a.test/data.json"]
    assert "referer" not in found.heads[0].lower()
    assert "cookie" not in found.heads[0].lower()


async def test_a_redirect_from_an_allowed_host_leads_nowhere_else(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    async with hosts(SAID) as found:
        story = html(f"<img src='http://a.test:{found.port}/away' width=9 height=9>")
        async with a_scene(launched, tmp_path, f"a.test:{found.port}") as scene:
            await scene.open(LittleStorybook({"a--away": story}))
            picture = await scene.shoot("a--away")
    assert picture.error is None
    assert {warning.code for warning in picture.warnings} == {WarningCode.BLOCKED_REQUEST}
    assert found.asked == ["GET a.test/away"]


async def test_https_goes_through_a_tunnel(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    async with hosts(SAID) as found:
        story = html(f"<img src='https://a.test:{found.port}/blue.svg' width=9 height=9>")
        async with a_scene(launched, tmp_path, f"a.test:{found.port}") as scene:
            await scene.open(LittleStorybook({"a--tls": story}))
            picture = await scene.shoot("a--tls")
    assert set(found.asked) == {"encrypted"}
    assert [warning.code for warning in picture.warnings] == [WarningCode.RESOURCE_FAILED]
    assert f"https://a.test:{found.port}/blue.svg" in picture.warnings[0].text


async def test_an_outlet_opens_no_other_road(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    async with (
        victim() as bystander,
        hosts(SAID) as found,
        a_scene(launched, tmp_path, f"a.test:{found.port}") as scene,
    ):
        await scene.open(Town(bystander.port).storybook())
        whole = await scene.shoot(EVERY)
        left = [await scene.shoot(name) for name in LEAVING]
    assert bystander.hits == []
    assert found.asked == []
    assert whole.error is None
    assert {one.error.code if one.error else None for one in left} == {ErrorCode.NAVIGATED_AWAY}


async def test_a_page_of_an_allowed_host_reaches_no_more_than_the_story(
    launched: tuple[BundleServer, LaunchedBrowser], tmp_path: Path
) -> None:
    """It comes without our policy, in a frame of its own: the proxy holds it alone."""
    async with victim() as bystander:
        town = Town(bystander.port)
        page = f"<body><div id=root></div><script type=module>{town.script()}</script>"
        said = {"/page.html": Said(page.encode(), headers={"content-type": "text/html"})}
        async with (
            hosts(said) as found,
            a_scene(launched, tmp_path, f"a.test:{found.port}") as scene,
        ):
            frame = LittleStory(
                "const frame = document.createElement('iframe'); root.append(frame);"
                f"frame.src = 'http://a.test:{found.port}/page.html';"
                "await new Promise((done) => setTimeout(done, 2_000));"
            )
            await scene.open(LittleStorybook({"a--frame": frame}))
            await scene.shoot("a--frame")
            assert "GET a.test/page.html" in found.asked
    assert bystander.hits == []


@pytest.mark.parametrize("form", list(Form))
async def test_a_child_reaches_what_its_outlet_lets_through(ground: Ground, form: Form) -> None:
    """In the strong form from another uid; and a bundle without an outlet reaches nothing."""
    isolation = await isolated(ground, form)
    async with (
        hosts(SAID) as found,
        a_supervisor(isolation) as supervisor,
        supervisor.child(ProjectId(1)) as child,
        outlets([f"a.test:{found.port}"]).opened(ProjectId(1), BuildId(1)) as outlet,
    ):
        image = html(f"<img src='http://a.test:{found.port}/blue.svg' width=40 height=40>")
        storybook = LittleStorybook({"a--image": image})
        await opened_in(child, storybook, outlet)
        with_outlet = await captured(child, "a--image")
        assert found.asked == ["GET a.test/blue.svg"]
        await opened_in(child, storybook)
        without = await captured(child, "a--image")
    assert with_outlet.warnings == ()
    assert [each.code for each in without.warnings] == [WarningCode.BLOCKED_REQUEST]
    assert found.asked == ["GET a.test/blue.svg"]
