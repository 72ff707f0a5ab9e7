"""What a hostile story leaves behind for the stories after it, and what it may claim: nothing."""

import pytest

from consumer.messages import ErrorCode
from tests.consumer.conftest import Opener
from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook

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
