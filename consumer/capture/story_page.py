"""One page in the browser, and what can be asked of it; every call has a deadline."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from playwright.async_api import BrowserContext, CDPSession, Page

from consumer.capture.deadline import CALL_S, Budget
from consumer.capture.page_watch import PageWatch
from consumer.capture.verdict import Report, read_report
from consumer.examined import Examination
from storyshelf.bundle.look import (
    ALWAYS,
    Animations,
    ColorScheme,
    ForcedColors,
    Look,
    Media,
    Motion,
)
from storyshelf.ids import BlobKey, StoryId
from storyshelf.snapshots.steadiness import Level

WISH = "storyshelf-"  # before what the page script is asked for in the address
STORIES_PER_DOCUMENT = 25  # then it is loaded anew: what piles up in it goes
# Of a story before, in the same document: workers stay, since a mock's would miss its page.
STORED = "cookies,indexeddb,local_storage,cache_storage"
LOAD_S = 20.0  # until the first byte of the preview: the bundle is on this machine


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be shot, and how the window looks on it."""

    story_id: StoryId
    viewport_width_px: int
    viewport_height_px: int
    scale: float
    delay_ms: int
    look: Look = ALWAYS
    baseline: BlobKey | None = None  # the picture it will be compared with
    level: Level = Level.PAIR  # the rung of `capture.stability` to begin on
    examination: Examination = Examination.OFF
    checks: str = ""  # of the examination: what to look for, as JSON

    def has_window_of(self, other: "Order") -> bool:
        """Tell whether both are shown in a window of the same size and scale."""
        own = (self.viewport_width_px, self.viewport_height_px, self.scale)
        return own == (other.viewport_width_px, other.viewport_height_px, other.scale)


class StoryPage:
    """A page that shows one story after the other, each loaded anew or switched to."""

    def __init__(self, page: Page, cdp: CDPSession, origin: str) -> None:
        self.watch = PageWatch(page, cdp, origin)
        self.page = page
        self.shown = 0  # stories so far
        self.cast: list[StoryId] = []  # those that this document has shown, as long as all is well
        self._shows: Order | None = None
        self._height_px = 0  # of the window, grown for a story or not
        self.is_spent = False  # it took its picture, and then did not answer any more
        self._has_scrollbars = True  # as a browser has them, until it is told otherwise
        self._media = ALWAYS  # what the page was last told of media
        self._cdp = cdp
        self._origin = origin

    @classmethod
    async def open(cls, context: BrowserContext, origin: str) -> "StoryPage":
        """Make a page in the context."""
        page = await context.new_page()
        made = cls(page, await context.new_cdp_session(page), origin)
        await made.watch.start()
        return made

    @property
    def is_usable(self) -> bool:
        """Whether another story may be shown in it."""
        return not (self.is_spent or self.page.is_closed())

    async def ask(self, function: str, seconds: float, argument: Any = None) -> Any:
        """Call a JavaScript function in the page; what it returns is hostile."""
        asked = self.page.evaluate(function, argument)
        return await self.watch.call(asked, seconds, f"asking the page for `{function[:60]}`")

    async def send(self, method: str, parameters: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send one DevTools command."""
        return await self.watch.call(self._cdp.send(method, parameters), seconds, method)

    async def clean(self, budget: Budget, *, keeps_workers: bool = False) -> None:
        """Remove what a story before has stored, in this page or in one that is gone.

        Caches of files are kept, and service workers where that is asked for.
        """
        self.watch.begin()
        types = STORED if keeps_workers else "all"
        clearing = {"origin": self._origin, "storageTypes": types}
        await self.send("Storage.clearDataForOrigin", clearing, budget.at_most(CALL_S))
        cookies = self.page.context.clear_cookies()
        await self.watch.call(cookies, budget.at_most(CALL_S), "clearing the cookies")
        self.shown += 1

    def can_switch_to(self, order: Order) -> bool:
        """Tell whether this story may be shown in the document that is there.

        Only in one like its own: the same window, media and globals, and no args to be set first.
        One that needs more than a glance would only look as if it depended on what was before it.
        """
        shows = self._shows
        return (
            shows is not None
            and 0 < len(self.cast) < STORIES_PER_DOCUMENT
            and not self.page.is_closed()
            and not (order.look.args or order.look.shot or order.level is Level.AGAIN)
            and shows.has_window_of(order)
            and shows.look.is_drawn_like(order.look)
        )

    async def switch(self, order: Order, budget: Budget) -> None:
        """Ask for another story in this document; what the last one stored is gone before."""
        self.watch.begin(documents=1)
        clearing = {"origin": self._origin, "storageTypes": STORED}
        await self.send("Storage.clearDataForOrigin", clearing, budget.at_most(CALL_S))
        if self._height_px != order.viewport_height_px:
            await self.resize(order, order.viewport_height_px, budget)
        asked = "id => window.__storyshelf__.story.begin(id)"
        await self.ask(asked, budget.at_most(CALL_S), order.story_id)
        self.cast.append(order.story_id)
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
        self._height_px = height_px

    async def dress(self, look: Look, budget: Budget) -> None:
        """Have the page's media be those of the look; what they are already costs nothing.

        Scrollbars too: a document has them, or not, from its beginning.
        """
        if look.scrollbars is not self._has_scrollbars:
            hidden = {"hidden": not look.scrollbars}
            await self.send("Emulation.setScrollbarsHidden", hidden, budget.at_most(CALL_S))
            self._has_scrollbars = look.scrollbars
        if _media_of(look) == _media_of(self._media):
            return
        emulating = self.page.emulate_media(
            media=look.media.value,
            color_scheme=look.color_scheme.value,
            reduced_motion=look.motion.value,
            forced_colors=look.forced_colors.value,
        )
        await self.watch.call(emulating, budget.at_most(CALL_S), "setting the page's media")
        # Both sessions' words are said again at a navigation, and the last one's count.
        await self.send("Emulation.setEmulatedMedia", _emulated(look), budget.at_most(CALL_S))
        self._media = look

    async def show(self, order: Order, budget: Budget) -> None:
        """Load the preview with this story; returns when the document has begun.

        What of the look the page script has to know travels in the address, where it finds it
        before there is a preview; Storybook's own `globals=` and `args=` take few kinds of values.
        """
        look = order.look
        shot = json.dumps(look.shot) if look.shot else ""
        animations = "" if look.animations is Animations.END else look.animations.value
        asked = {
            "globals": look.globals,
            "args": look.args,
            "shot": shot,
            "time": look.time,
            "animations": animations,
        }
        wishes = "".join(f"&{WISH}{name}={quote(said)}" for name, said in asked.items() if said)
        self._shows, self.cast = order, []
        await self._go(f"?id={quote(order.story_id)}&viewMode=story{wishes}", budget)
        await self.park_mouse(budget)

    async def park_mouse(self, budget: Budget) -> None:
        """Take the mouse out of the window, in whose corner a page's first document has it.

        Said once the document has begun, so that nothing follows the mouse, and again before the
        picture: the first word can come before there is anything to leave.
        """
        if self.shown > 1:
            return
        outside = {"type": "mouseMoved", "x": -1, "y": -1}
        await self.send("Input.dispatchMouseEvent", outside, budget.at_most(CALL_S))

    async def show_nothing(self, budget: Budget) -> None:
        """Load the preview without a story."""
        self._shows, self.cast = None, []
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


def _media_of(look: Look) -> tuple[Media, ColorScheme, Motion, ForcedColors]:
    return look.media, look.color_scheme, look.motion, look.forced_colors


def _emulated(look: Look) -> dict[str, Any]:
    features = {
        "prefers-color-scheme": look.color_scheme,
        "prefers-reduced-motion": look.motion,
        "forced-colors": look.forced_colors,
    }
    told = [{"name": name, "value": value.value} for name, value in features.items()]
    return {"media": "" if look.media is Media.SCREEN else look.media.value, "features": told}
