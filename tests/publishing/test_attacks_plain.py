"""The same Storybook over plain http, where browsers say less of who asks and promise less."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from storyshelf.ui.assets import ASSETS
from tests.publishing.browsing import PLAIN
from tests.publishing.scene import (
    LOADS,
    NOTHING,
    Scene,
    a_pending_build,
    framed,
    loaded,
    read_of,
    send_form,
    set_up,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]


@pytest.fixture
async def scene(db: Database, tmp_path: Path) -> AsyncIterator[Scene]:
    async with set_up(db, tmp_path, PLAIN) as scene:
        yield scene


async def test_the_headers_alone_keep_it_out(scene: Scene) -> None:
    await scene.victim.open_storybook("shop")
    addresses = [
        f"{scene.app}/projects/shop",
        f"{scene.app}/account",
        f"{scene.shop}/builds/1/a.js",
    ]
    assert await read_of(scene.evil, addresses) == ""
    assert [await framed(scene.evil, address) for address in addresses] == [NOTHING] * 3
    ways = set(LOADS) - {"service worker"}  # there is none over plain http
    outcomes = {how: await loaded(scene.evil, how, scene.shop) for how in ways}
    assert outcomes == dict.fromkeys(ways, "refused")
    icon = f"{scene.app}{ASSETS['icon.svg'].link}"
    assert await picture_size(await scene.victim.open("/projects/shop"), icon) > 0
    assert await picture_size(scene.evil, icon) == 0


async def test_no_decision_can_be_sent(scene: Scene) -> None:
    build = await a_pending_build(scene)
    path = f"/projects/shop/builds/{build.number}/decisions"
    await send_form(scene.evil, scene.app + path)
    assert scene.victim.statuses(scene.app)[path] == 403
    assert (await scene.hand.fresh(build)).state is BuildState.PENDING


async def picture_size(page: Page, address: str) -> int:
    """Return how wide a picture is that the page shows; 0: it is not shown."""
    width = await page.evaluate(
        """address => new Promise(done => {
            const picture = document.body.appendChild(new Image());
            picture.onload = picture.onerror = () => done(picture.naturalWidth);
            picture.src = address;
        })""",
        address,
    )
    assert isinstance(width, int)
    return width
