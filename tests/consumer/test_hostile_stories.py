"""What a hostile story leaves behind, what it is granted, and what it may claim: nothing."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from consumer.isolation import Form, Ground
from consumer.messages import ErrorCode, Page
from storyshelf.ids import BlobKey, ProjectId
from tests.consumer.conftest import ORDER, Opener
from tests.consumer.forms import captured, isolated, opened_in
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook, html
from tests.consumer.test_supervisor_browser import a_supervisor

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

WORKER = b"""
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
self.addEventListener('fetch', () => {});
"""
# What a story does to be remembered, and how another one would tell that it was.
TRACES = {
    "service_worker": (
        "await navigator.serviceWorker.register('/worker.js', { scope: '/' });"
        "await navigator.serviceWorker.ready;",
        "navigator.serviceWorker.controller !== null",
    ),
    "database": (
        "await new Promise((done) => { indexedDB.open('left').onsuccess = done; });",
        "(await indexedDB.databases()).length > 0",
    ),
    "cookie": ("document.cookie = 'left=1; path=/';", "document.cookie !== ''"),
    "cache": ("await caches.open('left');", "(await caches.keys()).length > 0"),
    "storage": ("localStorage.left = 1;", "localStorage.length > 0"),
    "window": (
        # The second window is opened before anybody could have closed the first.
        "const second = window.open('about:blank').open('about:blank').document;"
        "const script = second.createElement('script');"
        "script.textContent = 'setInterval(() => { localStorage.left = 1; }, 5)';"
        "second.head.append(script);",
        "await new Promise((done) => setTimeout(done, 100)), localStorage.length > 0",
    ),
}
LEAVE = "location.href = 'http://elsewhere.localhost/'; await new Promise(() => {});"


@pytest.mark.parametrize("ending", ["", LEAVE], ids=["stays", "leaves"])
@pytest.mark.parametrize("trace", TRACES)
async def test_a_story_finds_nothing_of_the_one_before(
    opened: Opener, trace: str, ending: str
) -> None:
    leave, find = TRACES[trace]
    stories = {
        "hostile--first": LittleStory(f"root.innerHTML = `{SQUARE}`; {leave} {ending}"),
        "honest--second": LittleStory(
            f"root.innerHTML = `{SQUARE}`; if (({find})) throw new Error('found a trace');"
        ),
    }
    stage = await opened(LittleStorybook(stories, {"worker.js": WORKER}))
    first = await stage.shoot("hostile--first")
    assert (None if first.error is None else first.error.code) == (
        ErrorCode.NAVIGATED_AWAY if ending else None
    )
    assert (await stage.shoot("honest--second")).error is None


# What a story may have our own script answer, by changing the built-ins that it uses.
FORGED = {
    "a number of 6,001 digits": "10n ** 6000n",
    "an integer that no float holds": "10n ** 400n",
    "a year that Python has not": "new Date(8.64e15)",
    "lists in lists": "(() => { let d = []; for (let n = 0; n < 3000; n++) d = [d]; return d; })()",
}


async def test_what_a_story_has_the_page_answer_costs_no_other_story(opened: Opener) -> None:
    """Neither the process nor the picture of the next one in the same page."""
    forge = (
        "root.innerHTML = `{square}`; const forged = () => {value};"
        "const list = {{ filter: () => list, slice: () => [forged()], map: () => [forged()] }};"
        "const from = Array.from;"
        "Array.from = (given, ...more) => given === document.body.classList || given?.item ? list"
        " : from(given, ...more);"
    )
    stories = {
        f"a--{number}": LittleStory(forge.format(square=SQUARE, value=value))
        for number, value in enumerate(FORGED.values())
    }
    stage = await opened(LittleStorybook({**stories, "honest--story": html("<b>well</b>")}))
    png = (await stage.shoot("honest--story")).png
    order = replace(ORDER, baseline=BlobKey(sha256(png).hexdigest()))
    for forger in stories:
        await stage.shoot(forger)
        honest = await stage.shoot("honest--story", order=order, page=Page.SWITCHED)
        assert (honest.error, honest.png) == (None, png)


async def test_nothing_of_a_story_runs_on_in_a_context_of_its_own(opened: Opener) -> None:
    works = LittleStory(
        f"root.innerHTML = `{SQUARE}`;"
        "new Worker(URL.createObjectURL(new Blob(['for (;;);'])));"
        "window.open('about:blank').open('about:blank');"
    )
    stage = await opened(LittleStorybook({"busy--story": works, "well--story": html("well")}))
    await stage.shoot("well--story")
    browser = await stage.browser.start()
    (shared,) = browser.contexts
    for kind in (Page.FRESH, Page.TRACED):
        assert (await stage.shoot("busy--story", page=kind)).error is None
        assert browser.contexts == [shared]


# What a person would be asked for, and what asks the machine: refused at once, never left open.
ASKED_FOR = (
    "new Promise((_, no) => navigator.geolocation.getCurrentPosition(_, no))",
    "Notification.requestPermission()",
    "navigator.mediaDevices.getUserMedia({ video: true })",
    "navigator.mediaDevices.getDisplayMedia({ video: true })",
    "navigator.clipboard.readText()",
    "showOpenFilePicker()",
    "navigator.requestMIDIAccess({ sysex: true })",
    "navigator.storage.persist()",
    "navigator.wakeLock.request('screen')",
    "IdleDetector.requestPermission()",
    "(async () => window.print())()",
    "(async () => document.body.appendChild(Object.assign(document.createElement('input'),"
    " { type: 'file' })).click())()",
)
PERMISSIONS = (
    "geolocation", "notifications", "camera", "microphone", "clipboard-read", "clipboard-write",
    "midi", "persistent-storage", "local-fonts", "screen-wake-lock", "idle-detection",
)  # fmt: skip


async def test_nothing_is_granted_and_nobody_is_kept_waiting_for_an_answer(opened: Opener) -> None:
    asks = ", ".join(f"() => {each}" for each in ASKED_FOR)
    greedy = LittleStory(
        f"root.innerHTML = `{SQUARE}`;"
        f"const asked = [{asks}].map((ask) => ask().catch(() => 'refused'));"
        "const late = new Promise((_, no) => setTimeout(no, 5_000, new Error('no answer')));"
        "await Promise.race([Promise.all(asked), late]);"
        f"for (const name of {list(PERMISSIONS)}) {{"
        "  const { state } = await navigator.permissions.query({ name });"
        "  if (state !== 'denied') throw new Error(`${name} is ${state}`); }"
    )
    stage = await opened(LittleStorybook({"greedy--story": greedy}))
    picture = await stage.shoot("greedy--story")
    assert (picture.error, picture.warnings) == (None, ())


@pytest.mark.parametrize("form", list(Form))
async def test_what_a_story_downloads_is_nowhere_on_the_disk(ground: Ground, form: Form) -> None:
    downloads = LittleStory(
        f"root.innerHTML = `{SQUARE}`;"
        "const link = document.createElement('a'); link.download = 'loot.bin';"
        "link.href = URL.createObjectURL(new Blob(['lo', 'ot ', 'of a story'])); link.click();"
        "await new Promise((done) => setTimeout(done, 300));"
    )
    isolation = await isolated(ground, form)
    async with a_supervisor(isolation) as supervisor, supervisor.child(ProjectId(1)) as child:
        await opened_in(child, LittleStorybook({"a--downloads": downloads}))
        assert (await captured(child, "a--downloads")).error is None
        homes = (child.cell.home, child.cell.child_home)
        files = [path for home in homes for path in home.rglob("*") if path.is_file()]
        assert files
        assert [path for path in files if "loot" in path.name or has_loot(path)] == []


def has_loot(path: Path) -> bool:
    try:
        return b"loot of a story" in path.read_bytes()
    except FileNotFoundError:  # the browser lives, and tidies up
        return False
