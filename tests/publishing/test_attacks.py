"""A published Storybook that attacks whoever looks at it: in a real browser, every try is refused.

What `evil` runs is what a story of it could run. Each try is made in two arrangements of names.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from tests.publishing.browsing import DEFAULT, ONE_SITE
from tests.publishing.scene import (
    LOADS,
    NOTHING,
    SHOP_FILES,
    Scene,
    a_pending_build,
    framed,
    loaded,
    read_of,
    send_form,
    set_up,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(60)]

BUILDS_API = "/api/v1/projects/shop/builds"


@pytest.fixture(params=[DEFAULT, ONE_SITE], ids=["default", "one site"])
async def scene(
    request: pytest.FixtureRequest, db: Database, tmp_path: Path
) -> AsyncIterator[Scene]:
    async with set_up(db, tmp_path, request.param) as scene:
        yield scene


async def test_no_cookie_goes_to_a_host_it_is_not_for(scene: Scene) -> None:
    app = await scene.victim.open("/projects/shop")
    assert await scene.evil.evaluate("document.cookie") == ""
    assert await app.evaluate("document.cookie") == ""
    sent = {
        host: await scene.victim.cookies_sent(host)
        for host in (scene.app, scene.served.origin("evil"))
    }
    assert sent == {
        scene.app: {"storyshelf_session"},
        scene.served.origin("evil"): {"storyshelf_storybook"},
    }


async def test_storage_of_app_and_storybooks_is_apart(scene: Scene) -> None:
    shop = await scene.victim.open_storybook("shop")
    app = await scene.victim.open("/projects/shop")
    for page in (app, shop):
        await page.evaluate(
            "localStorage.kept = sessionStorage.kept = 1; caches.open('kept');"
            "new Promise(done => indexedDB.open('kept').onsuccess = done).then(() => 0)"
        )
    found = await scene.evil.evaluate(
        "Promise.all([indexedDB.databases(), caches.keys()])"
        ".then(([bases, caches]) => [localStorage.length, sessionStorage.length, bases, caches])"
    )
    assert found == [0, 0, [], []]


async def test_the_apps_answers_cannot_be_read(scene: Scene) -> None:
    paths = ["/", "/projects/shop", "/account", "/projects/shop/builds/1/storybook", BUILDS_API]
    assert await read_of(scene.evil, [scene.app + path for path in paths]) == ""
    refused = scene.victim.statuses(scene.app)
    assert {path: refused[path] for path in paths} == dict.fromkeys(paths, 403) | {BUILDS_API: 401}


async def test_no_decision_can_be_sent_in_a_members_name(scene: Scene) -> None:
    build = await a_pending_build(scene)
    path = f"/projects/shop/builds/{build.number}/decisions"
    await scene.evil.evaluate(
        """async ([address, api]) => {
            const body = new URLSearchParams({decision: "accepted", all: "1"});
            const how = {method: "POST", credentials: "include", mode: "no-cors", body};
            await fetch(address, {...how, mode: "cors"}).catch(String);
            await fetch(address, how);
            await fetch(api, {...how, body: '{"all":true,"decision":"accepted"}'});
            navigator.sendBeacon(address, body);
        }""",
        [scene.app + path, f"{scene.app}/api/v1{path}"],
    )
    await send_form(scene.evil, scene.app + path)
    assert {a.status for a in scene.victim.answers if a.url.endswith(path)} == {401, 403}
    assert scene.evil.url == scene.app + path
    assert (await scene.hand.fresh(build)).state is BuildState.PENDING


async def test_the_same_decision_sent_from_a_page_of_the_app_is_taken(scene: Scene) -> None:
    """So what is refused elsewhere is refused for where it comes from."""
    build = await a_pending_build(scene)
    page = await scene.victim.open(f"/projects/shop/builds/{build.number}")
    await send_form(page, f"{scene.app}/projects/shop/builds/{build.number}/decisions")
    assert (await scene.hand.fresh(build)).state is BuildState.ACCEPTED


async def test_neither_the_app_nor_another_storybook_can_be_framed(scene: Scene) -> None:
    for path in ("/projects/shop", "/sign-in", "/projects/none"):
        assert await framed(scene.evil, scene.app + path) == NOTHING
        assert scene.victim.statuses(scene.app)[path] == 403
    await scene.victim.open_storybook("shop")
    for path in ("/builds/1/", "/builds/1/none.js", "/builds/1/a.svg", "/enter"):
        assert await framed(scene.evil, scene.shop + path) == NOTHING
        assert scene.victim.statuses(scene.shop)[path] == 403


async def test_another_projects_files_cannot_be_loaded(scene: Scene) -> None:
    await scene.victim.open_storybook("shop")
    outcomes = {how: await loaded(scene.evil, how, scene.shop) for how in LOADS}
    assert outcomes == dict.fromkeys(LOADS, "refused")
    assert await scene.evil.evaluate("typeof stolen") == "undefined"


async def test_a_storybooks_own_files_can_be_loaded_in_all_those_ways(scene: Scene) -> None:
    """So what is refused elsewhere is refused for where it comes from."""
    shop = await scene.victim.open_storybook("shop")
    outcomes = {how: await loaded(shop, how, scene.shop) for how in LOADS}
    assert outcomes == dict.fromkeys(LOADS, "loaded")


async def test_a_window_that_it_opens_is_out_of_its_reach(scene: Scene) -> None:
    """The app's tab and another Storybook's: neither can be read, written to, or led away."""
    for address in (f"{scene.app}/projects/shop", f"{scene.app}/projects/shop/builds/1/storybook"):
        async with scene.evil.expect_popup() as opened:
            await scene.evil.evaluate("address => { window.it = open(address, 'named') }", address)
        popup = await opened.value
        await popup.wait_for_load_state()
        await popup.evaluate("onmessage = () => { window.heard = true }; 0")
        await scene.evil.evaluate("it.postMessage('hello', '*'); it.location = 'about:blank'")
        assert await scene.evil.evaluate("it.closed")
        assert await popup.evaluate("[opener, name, window.heard ?? null]") == [None, "", None]
        assert popup.url != "about:blank"


async def test_it_cannot_reach_the_tab_that_it_was_opened_from(scene: Scene) -> None:
    app = await scene.victim.open("/projects/evil")
    async with app.expect_popup() as opened:
        way = f"{scene.app}/projects/evil/builds/1/storybook"
        await app.evaluate("address => { open(address) }", way)
    evil = await opened.value
    await evil.wait_for_url(f"{scene.served.origin('evil')}/builds/1/")
    assert await evil.evaluate("[opener, parent === window, top === window]") == [None, True, True]
    assert app.url == f"{scene.app}/projects/evil"


async def test_cookies_that_it_adds_for_all_its_siblings_sign_nobody_out(scene: Scene) -> None:
    shop = await scene.victim.open_storybook("shop")
    domains = ["localhost", *scene.served.wider_domains]
    await scene.evil.evaluate(
        """domains => {
            for (const domain of domains) for (const path of ["/", "/builds/", "/projects/"])
                for (const name of ["storyshelf_session", "storyshelf_storybook"])
                    document.cookie = `${name}=evil; domain=${domain}; path=${path}`;
        }""",
        domains,
    )
    assert "evil" in (await shop.evaluate("document.cookie"))
    await shop.reload()
    assert await shop.title() == "manager"
    app = await scene.victim.open("/projects/shop")
    assert app.url == f"{scene.app}/projects/shop"


async def test_a_session_that_it_adds_is_not_taken_for_the_members_own(scene: Scene) -> None:
    """Else a member would decide in the attacker's name."""
    added = await scene.victim.session_of_somebody_else()
    await scene.evil.evaluate(
        """([secret, domains]) => {
            for (const domain of domains) for (const path of ["/", "/account"])
                document.cookie = `storyshelf_session=${secret}; domain=${domain}; path=${path}`;
        }""",
        [added, scene.served.wider_domains],
    )
    account = await scene.victim.open("/account")
    assert "mallory" not in (await account.content()).lower()


async def test_a_service_worker_reaches_no_further_than_its_own_build(scene: Scene) -> None:
    second = await scene.served.shelf.publish(scene.hand.project, {"index.html": b"<title>2"})
    assert second.number == 2
    shop = await scene.victim.open_storybook("shop")
    reached = {}
    for scope in ("/", "/builds/", "/builds/1", "/builds/2/", "/builds/1/../2/", "/branches/main/"):
        reached[scope] = await shop.evaluate(
            """scope => navigator.serviceWorker.register("/builds/1/worker.js", {scope})
                .then(() => "registered", error => error.name)""",
            scope,
        )
    assert set(reached.values()) == {"SecurityError"}
    await shop.evaluate(
        """navigator.serviceWorker.register("/builds/1/worker.js")
            .then(() => navigator.serviceWorker.ready).then(() => 0)"""
    )
    await shop.reload()
    assert await shop.inner_text("body") == "taken over"
    for way in ("/projects/shop/builds/2/storybook", "/projects/shop/branches/main/storybook"):
        other = await scene.victim.open(way)
        assert (await other.title(), other.url) == ("2", f"{scene.shop}/builds/2/")
        assert await other.evaluate("navigator.serviceWorker.controller") is None


async def test_a_script_elsewhere_is_no_service_worker(scene: Scene) -> None:
    """A folder in the encoded form, a redirect, another path: none widens the reach."""
    shop = await scene.victim.open_storybook("shop")
    for script in (
        "/builds/1%2fworker.js",
        "/builds%2f1%2fworker.js",
        "/branches/main/worker.js",
        "/worker.js",
        "/builds/1/..%2fworker.js",
    ):
        refused = await shop.evaluate(
            """script => navigator.serviceWorker.register(script, {scope: "/"})
                .then(() => "registered", error => error.name)""",
            script,
        )
        assert refused in {"SecurityError", "TypeError"}


async def test_an_honest_service_worker_works_as_its_storybook_needs(scene: Scene) -> None:
    shop = await scene.victim.open_storybook("shop")
    await shop.evaluate(
        """navigator.serviceWorker.register("honest.js")
            .then(() => navigator.serviceWorker.ready).then(() => 0)"""
    )
    again = await scene.victim.open_storybook("shop")
    assert await again.evaluate("navigator.serviceWorker.controller !== null")
    assert await again.content() == await shop.content()
    read = await again.evaluate("fetch('plain.js').then(answer => answer.text())")
    assert read.encode() == SHOP_FILES["plain.js"]


async def test_names_with_script_in_them_are_shown_as_text(scene: Scene) -> None:
    said: list[str] = []
    evil = scene.evil
    evil.on("dialog", lambda dialog: said.append(dialog.message))
    evil.on("console", lambda message: said.append(message.text))
    for path in (
        "branches/%3Cscript%3Ealert(1)%3C%2Fscript%3E/",
        "builds/1/%3Cimg%20src=x%20onerror=alert(1)%3E",
        "%22%3E%3Cscript%3Ealert(1)%3C/script%3E?path=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    ):
        await evil.goto(f"{scene.served.origin('evil')}/{path}")
        assert await evil.locator("script, img").count() == 0
        assert await evil.locator("h1").count() == 1
    assert [each for each in said if "404" not in each] == []


async def test_document_domain_does_not_make_two_projects_one(scene: Scene) -> None:
    await scene.evil.evaluate(
        "domain => { try { document.domain = domain } catch {} }", scene.served.parts.content_domain
    )
    assert await scene.evil.evaluate("originAgentCluster")


async def test_the_storybook_itself_may_frame_its_own_stories(scene: Scene) -> None:
    own = f"{scene.served.origin('evil')}/builds/1/iframe.html"
    assert await framed(scene.evil, own) == own
    assert await scene.evil.frames[-1].title() == "frame"
