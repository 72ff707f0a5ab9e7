"""One page in the browser, and what can be asked of it; every call has a deadline."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from playwright.async_api import BrowserContext, CDPSession, Page

from consumer.capture.deadline import CALL_S, Budget
from consumer.capture.page_watch import PageWatch
from consumer.capture.verdict import Report, read_report
from storyshelf.ids import StoryId

LOAD_S = 20.0  # until the first byte of the preview: the bundle is on this machine


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be shot, and how the window looks on it."""

    story_id: StoryId
    viewport_width_px: int
    viewport_height_px: int
    scale: float
    delay_ms: int


class StoryPage:
    """A page that shows one story after the other, each from a load of its own."""

    def __init__(self, page: Page, cdp: CDPSession, origin: str) -> None:
        self.watch = PageWatch(page, cdp, origin)
        self.page = page
        self.shown = 0  # stories so far
        self._cdp = cdp
        self._origin = origin

    @classmethod
    async def open(cls, context: BrowserContext, origin: str) -> "StoryPage":
        """Make a page in the context."""
        page = await context.new_page()
        made = cls(page, await context.new_cdp_session(page), origin)
        await made.watch.start()
        return made

    async def ask(self, function: str, seconds: float, argument: Any = None) -> Any:
        """Call a JavaScript function in the page; what it returns is hostile."""
        asked = self.page.evaluate(function, argument)
        return await self.watch.call(asked, seconds, f"asking the page for `{function[:60]}`")

    async def send(self, method: str, parameters: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one DevTools command."""
        return await self.watch.call(self._cdp.send(method, parameters), seconds, method)

    async def clean(self, budget: Budget) -> None:
        """Remove what a story before has stored, in this page or in one that is gone.

        Caches of files are kept.
        """
        self.watch.begin()
        everything = {"origin": self._origin, "storageTypes": "all"}
        await self.send("Storage.clearDataForOrigin", everything, budget.at_most(CALL_S))
        cookies = self.page.context.clear_cookies()
        await self.watch.call(cookies, budget.at_most(CALL_S), "clearing the cookies")
        self.shown += 1

    async def resize(self, order: Order, height_px: int, budget: Budget) -> None:
        """Give the window the order's width and scale, and that height."""
        metrics = {
            "width": order.viewport_width_px,
            "height": height_px,
            "deviceScaleFactor": order.scale,
            "mobile": False,
        }
        await self.send("Emulation.setDeviceMetricsOverride", metrics, budget.at_most(CALL_S))

    async def show(self, story_id: StoryId, budget: Budget) -> None:
        """Load the preview with this story; returns when the document has begun."""
        await self._go(f"?id={quote(story_id)}&viewMode=story", budget)

    async def show_nothing(self, budget: Budget) -> None:
        """Load the preview without a story."""
        await self._go("", budget)

    async def report(self, budget: Budget) -> Report:
        """Return the page's account of its story as it stands."""
        asked = "() => window.__storyshelf__.story.report()"
        return read_report(await self.ask(asked, budget.at_most(CALL_S)))

    async def _go(self, query: str, budget: Budget) -> None:
        self.watch.begin()  # what the story before still did is not this one's
        limit_s = budget.at_most(LOAD_S)
        url = f"{self._origin}/iframe.html{query}"
        going = self.page.goto(url, wait_until="commit", timeout=0)  # the watch holds the deadline
        await self.watch.call(going, limit_s, "loading the preview")
