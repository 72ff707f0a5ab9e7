"""Watches one page beside the capture: what ends it, and what a reader should be told.

Every call to the page goes through `PageWatch.call`, so that none is without a deadline and each
ends at once when the page has crashed or gone elsewhere.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Dialog, Error, Page, Request, Response

from consumer.capture.console import PageConsole
from consumer.capture.deadline import CALL_S, CallDeadlineError
from consumer.capture.verdict import whole
from consumer.messages import StoryWarning, WarningCode
from consumer.refusals import Refusals, shown_address
from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError

MAX_WARNINGS = 20  # a page that polls a dead address says the same thing for ever
MAX_REPORTED = 500  # addresses of a story
MAX_TEXT = 500  # as the channel allows
BAD_STATUS = 400
# What goes wrong behind an outlet alone: the host was allowed, and is what has to be mended.
BEYOND = tuple(
    f"net::ERR_{part}"
    for part in ("TUNNEL", "CERT", "SSL", "HTTP2", "CONNECTION", "EMPTY_RESPONSE")
)
STYLED_BY = frozenset({"image", "stylesheet"})  # fonts say themselves whether they are loaded
ENDLESS = frozenset({"eventsource", "media", "websocket"})  # never done, or only when it is played
Answer = TypeVar("Answer")


class PageCrashedError(StoryshelfError):
    """The page's process died."""

    def __init__(self) -> None:
        super().__init__("the page crashed; it may have run out of memory")


# What the driver raises for numbers of thousands of digits, years it does not know, and lists in
# lists without an end.
UNREADABLE = (ValueError, OverflowError, RecursionError)


# The driver's words for a page that went away under a call.
LEFT = (
    "context was destroyed",
    "Cannot find context",
    "interrupted by another navigation",
    "frame was detached",
    "Frame was detached",
    "navigated or closed",
)


class NavigatedAwayError(StoryshelfError):
    """The page left the story; `is_reload` where it went to the very address it was at."""

    def __init__(self, url: str, *, is_reload: bool = False) -> None:
        super().__init__(f"the page went to {url[:300]}")
        self.is_reload = is_reload


class UnreadableAnswerError(StoryshelfError):
    """The page answered what the driver cannot read, as a page can that changes the built-ins."""

    def __init__(self, doing: str) -> None:
        super().__init__(f"{doing} gave an answer that cannot be read")


class PageWatch:
    """The eyes on one page; `begin` starts a new story."""

    def __init__(self, page: Page, cdp: CDPSession, origin: str) -> None:
        self.console = PageConsole(page)
        self._cdp = cdp
        self._page = page
        self._origin = origin
        self._documents = 0
        self._address = ""  # of the story's first document
        self._trouble: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._warnings: dict[tuple[WarningCode, str], None] = {}
        self._refusals = Refusals()
        self._reported: set[str] = set()
        self._styling: set[Request] = set()
        self._styled = asyncio.Event()
        self._flying: set[Request] = set()
        self._asked = 0  # requests of the story so far
        page.on("crash", lambda _: self._end(PageCrashedError()))
        page.on("dialog", self._on_dialog)
        page.on("popup", self._on_popup)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_requestend)
        page.on("requestfailed", self._on_requestfailed)
        page.on("response", self._on_response)
        page.on("websocket", lambda socket: self._on_websocket(socket.url))
        context = page.context
        context.on("requestfailed", self._on_failed_beside)
        page.on("close", lambda _: context.remove_listener("requestfailed", self._on_failed_beside))

    async def start(self) -> None:
        """Listen for documents too; a hash or a pushState makes none."""
        self._cdp.on("Page.frameNavigated", self._on_document)
        async with asyncio.timeout(5):
            await self._cdp.send("Page.enable")

    def begin(self, documents: int = 0) -> None:
        """Forget the story before; the next document is the new story's.

        With one document the story is shown in the one that is there, and any next is too many.
        """
        if not self._trouble.done():
            self._trouble.cancel()
        self._trouble = asyncio.get_running_loop().create_future()
        self._documents = documents
        self._address = ""
        self._warnings.clear()
        self._refusals.clear()
        self._reported.clear()
        self.console.begin()
        self._styling.clear()
        self._styled.set()
        self._flying.clear()
        self._asked = 0

    async def call(self, work: Coroutine[Any, Any, Answer], seconds: float, doing: str) -> Answer:
        """Return the answer; raise what ended the page, or CallDeadlineError."""
        task = asyncio.ensure_future(work)
        either: list[asyncio.Future[Any]] = [task, self._trouble]
        try:
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._trouble.done():
                self._trouble.result()
            if not task.done():
                raise CallDeadlineError(doing, seconds)
            return task.result()
        except Error as error:
            await self._explained(error)
            raise
        except UNREADABLE:
            raise UnreadableAnswerError(doing) from None
        finally:
            await _cancelled(task)

    async def styled(self) -> None:
        """Wait until no image, font or style sheet is on its way."""
        await self._styled.wait()

    async def unasked(self, quiet_s: float, within_s: float, clock: Clock) -> None:
        """Wait until for that long nothing was on its way but what never ends, or out of time."""
        until = clock.monotonic() + within_s
        while clock.monotonic() < until:
            asked = self._asked
            await clock.sleep(quiet_s)
            if not self._flying and self._asked == asked:
                return

    def warn(self, code: WarningCode, text: str) -> None:
        """Note something for the reader, once."""
        if len(self._warnings) < MAX_WARNINGS:
            self._warnings[code, whole(text)[:MAX_TEXT]] = None

    def warnings(self) -> tuple[StoryWarning, ...]:
        """Return what was noted since `begin`."""
        refused = ((WarningCode.BLOCKED_REQUEST, line) for line in self._refusals.lines())
        return tuple(StoryWarning(code, text) for code, text in (*self._warnings, *refused))

    def note_report(self, url: str) -> None:
        """Note what a policy of this story's documents or workers refused.

        A request that was refused at a redirect is reported by its first address, and the driver
        never says that it ended; it may also tell of the request after the report is here.
        """
        if len(self._reported) < MAX_REPORTED:
            self._reported.add(url)
        for request in [each for each in self._styling if shown_address(each.url) == url]:
            self._on_requestend(request)
        if not self._is_ours(url):
            self._refusals.report(url)

    async def _explained(self, error: Error) -> None:
        """Give the event that explains a cut call the turn of the loop that it may be behind."""
        if "Target crashed" in error.message or "Page crashed" in error.message:
            raise PageCrashedError from None
        if any(words in error.message for words in LEFT):
            await asyncio.wait({self._trouble}, timeout=1)
            if self._trouble.done():
                self._trouble.result()
            raise NavigatedAwayError("another page") from None

    def _end(self, error: StoryshelfError) -> None:
        if not self._trouble.done():
            self._trouble.set_exception(error)
            self._trouble.exception()  # may never be asked for: then it is no news

    def _on_document(self, event: dict[str, Any]) -> None:
        if event["frame"].get("parentId"):
            return
        self._documents += 1
        url = event["frame"].get("url", "")
        if self._documents == 1:
            self._address = url
            return
        gone_to = event["frame"].get("unreachableUrl") or self._page.url
        self._end(NavigatedAwayError(gone_to, is_reload=url == self._address))

    async def _on_dialog(self, dialog: Dialog) -> None:
        with suppress(Error, TimeoutError):
            await self._answer(dialog)

    async def _answer(self, dialog: Dialog) -> None:
        async with asyncio.timeout(CALL_S):
            if dialog.type == "beforeunload":
                await dialog.accept()  # nothing keeps us on a page we want to leave
                return
            self.warn(WarningCode.DIALOG, f"{dialog.type}: {dialog.message}")
            await dialog.dismiss()

    async def _on_popup(self, popup: Page) -> None:
        is_refused = popup.url.startswith("chrome-error:")  # where it wanted to go is told besides
        self.warn(WarningCode.POPUP, "to elsewhere" if is_refused else _shown(popup.url))
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CALL_S):
                await popup.close()

    def _on_request(self, request: Request) -> None:
        if request.resource_type in STYLED_BY and not self._is_reported(request.url):
            self._styling.add(request)
            self._styled.clear()
        if request.resource_type not in ENDLESS:
            self._flying.add(request)
            self._asked += 1

    def _on_requestend(self, request: Request) -> None:
        self._styling.discard(request)
        self._flying.discard(request)
        if not self._styling:
            self._styled.set()

    def _on_requestfailed(self, request: Request) -> None:
        self._on_requestend(request)
        if self._leaves(request):
            return  # told as what it is: the page went away, or the preview did not load
        failure = request.failure or ""
        if failure.startswith(BEYOND):
            self._warn_failed(failure, request.url)
        elif not self._is_ours(request.url):
            self._refusals.hear(request.url)
        elif "ERR_ABORTED" not in failure:  # the page changed its mind
            self._warn_failed(failure, request.url)

    def _on_failed_beside(self, request: Request) -> None:
        """Hear of what a window beside the page did: it is closed before it can say more."""
        if not self._is_of_the_page(request) and not self._is_ours(request.url):
            self._refusals.hear(request.url)

    def _is_of_the_page(self, request: Request) -> bool:
        try:
            return request.frame.page == self._page
        except Error:  # of a worker, or of a window that is not quite there yet
            return False

    def _on_response(self, response: Response) -> None:
        if response.status >= BAD_STATUS and not response.url.endswith("/favicon.ico"):
            self._warn_failed(str(response.status), response.url)

    def _warn_failed(self, why: str, url: str) -> None:
        path = _shown(url).removeprefix(f"{self._origin}/")
        self.warn(WarningCode.RESOURCE_FAILED, f"{why}: {path}")

    def _leaves(self, request: Request) -> bool:
        try:
            return request.is_navigation_request() and request.frame == self._page.main_frame
        except Error:  # its frame is gone, or not there yet
            return False

    def _on_websocket(self, url: str) -> None:
        if not self._is_ours(url.replace("ws", "http", 1)):
            self._refusals.hear(url)

    def _is_reported(self, url: str) -> bool:
        return bool(self._reported) and shown_address(url) in self._reported

    def _is_ours(self, url: str) -> bool:
        return url.startswith((f"{self._origin}/", "data:", "blob:"))


def _shown(url: str) -> str:
    """Cut what may be long or secret; keep what tells which file it was."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a browser puts up with more than Python does
        return url[:MAX_TEXT]
    return f"{parts.scheme}://{parts.netloc}{parts.path}"[:MAX_TEXT]


async def _cancelled(task: asyncio.Future[Any]) -> None:
    """End a call that nobody waits for any more, and take its last words."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=1)
    if task.done() and not task.cancelled():
        task.exception()
