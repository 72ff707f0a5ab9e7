"""A Storybook that attacks, one that it wants to get at, and what a page can try on another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page

from storyshelf.auth.permissions import Role
from storyshelf.builds.build import Build
from storyshelf.db.engine import Database
from tests.builds.hand import Hand
from tests.publishing.browsing import Arrangement, Served, Victim, a_browser, a_victim, serving

NOTHING = "chrome-error://chromewebdata/"  # what a browser puts into a frame instead
SCRIPT = b"var stolen = 'a secret of the shop'; export default stolen;"
SHOP_FILES = {
    "a.js": SCRIPT,
    "plain.js": b"var stolen = 'a secret of the shop';",
    "a.css": b"body { outline: 3px solid red }",
    "a.svg": b"<svg xmlns='http://www.w3.org/2000/svg' width='7' height='9'/>",
    "posts.js": b"postMessage('hello')",
    "worker.js": b"self.onfetch = e => e.respondWith(new Response('taken over'))",
    "honest.js": b"self.onfetch = e => e.respondWith(fetch(e.request))",
}
LOADS = {
    "script": "load(Object.assign(document.createElement('script'), {src: `${shop}plain.js`}))",
    "module": "import(`${shop}a.js`)",
    "style": "load(Object.assign(document.createElement('link'),"
    " {rel: 'stylesheet', href: `${shop}a.css`}))",
    "picture": "load(Object.assign(document.createElement('img'), {src: `${shop}a.svg`}))",
    "object": "load(Object.assign(document.createElement('object'), {data: `${shop}a.svg`}))",
    "fetch": "fetch(`${shop}a.js`, {credentials: 'include'}).then(r => r.text())",
    "opaque fetch": "fetch(`${shop}a.js`, {credentials: 'include', mode: 'no-cors'})",
    "worker": "Promise.resolve().then(() => load(new Worker(`${shop}posts.js`)))",
    "service worker": "navigator.serviceWorker.register(`${shop}honest.js`)",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Ada decides in the shop and may look at evil's Storybook, which she does."""

    served: Served
    victim: Victim
    hand: Hand
    evil: Page

    @property
    def app(self) -> str:
        return self.served.app

    @property
    def shop(self) -> str:
        return self.served.origin("shop")


@asynccontextmanager
async def set_up(db: Database, tmp_path: Path, names: Arrangement) -> AsyncIterator[Scene]:
    async with serving(db, tmp_path / "blobs", names) as served, a_browser() as browser:
        shop, evil = [await served.shelf.project(slug) for slug in ("shop", "evil")]
        await served.shelf.publish(evil)
        await served.shelf.publish(shop, SHOP_FILES)
        victim = await a_victim(served, browser, {shop.id: Role.ADMIN, evil.id: Role.VIEWER})
        hand = Hand(db, served.parts.blobs, shop)
        yield Scene(served, victim, hand, await victim.open_storybook("evil"))


async def a_pending_build(scene: Scene) -> Build:
    """A build of the shop in which something waits for a decision."""
    for _ in ("evil's", "the shop's"):
        await scene.hand.claim("plan")  # of what was published: no hand plans it
    await scene.hand.run({"a--one": "red"})
    return await scene.hand.run({"a--one": "blue"})


async def read_of(page: Page, addresses: list[str]) -> str:
    """Return all that a page can read there, with the reader's cookies."""
    readable = await page.evaluate(
        """async addresses => {
            const tries = [{credentials: "include"}, {credentials: "include", mode: "no-cors"}];
            const all = addresses.flatMap(address => tries.map(how => [address, how]));
            const read = ([address, how]) => fetch(address, how).then(r => r.text(), () => "");
            return (await Promise.all(all.map(read))).join("");
        }""",
        addresses,
    )
    assert isinstance(readable, str)
    return readable


async def send_form(page: Page, address: str) -> None:
    """Have the page send the form that accepts everything, and follow where it leads."""
    async with page.expect_navigation():
        await page.evaluate(
            """address => {
                const form = document.body.appendChild(document.createElement("form"));
                form.method = "post"; form.action = address;
                form.innerHTML = '<input name=decision value=accepted><input name=all value=1>';
                form.submit();
            }""",
            address,
        )


async def framed(page: Page, address: str) -> str:
    """Return what is really in a frame that was sent to the address."""
    await page.evaluate(
        """address => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.src = address; frame.onload = done;
            document.body.append(frame);
        }).then(() => 0)""",
        address,
    )
    where = await page.frames[-1].evaluate("location.href")
    assert isinstance(where, str)
    return where


async def loaded(page: Page, how: str, origin: str) -> str:
    """Return whether the page could load a file of the first build there in that way."""
    outcome = await page.evaluate(
        f"""shop => {{
            const load = what => new Promise((done, failed) => {{
                what.onload = what.onmessage = done; what.onerror = failed;
                if (what instanceof Node) document.body.append(what);
            }});
            return ({LOADS[how]}).then(() => "loaded", () => "refused");
        }}""",
        f"{origin}/builds/1/",
    )
    assert isinstance(outcome, str)
    return outcome
