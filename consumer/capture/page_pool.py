"""Keeps the pages of one bundle, and gets rid of those that are beyond help.

All stories share a context, whose HTTP and code caches make the second load cheap; a confirmation
gets a context of its own. What does not close is left to the next harder means: page, context,
browser.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Browser, BrowserContext, Error, ProxySettings

from consumer.capture.browser import BrowserFailedError, LaunchedBrowser, proxy_of
from consumer.capture.page import page_script
from consumer.capture.story_page import Order, StoryPage
from consumer.messages import Page
from storyshelf.bundle.look import DEFAULT_LOCALE, DEFAULT_TIME_ZONE, Look
from storyshelf.errors import StoryshelfError

OPEN_S = 15.0  # a context and its first page took 0.1 s, and 4 under load
CLOSE_S = 4.0  # a page in an endless loop closed within 3.4 s
UNKNOWN_PLACE = re.compile(r"invalid (timezone|locale)", re.IGNORECASE)  # the driver's words
STORIES_PER_PAGE = 200  # then a new page: what a renderer has piled up goes with it


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page believes to be: its language and its time zone."""

    locale: str = DEFAULT_LOCALE
    time_zone: str = DEFAULT_TIME_ZONE

    @classmethod
    def of(cls, look: Look) -> "Place":
        """Return where a story with that look has to be shown."""
        return cls(look.locale, look.time_zone)


HERE = Place()


class UnknownPlaceError(StoryshelfError):
    """The browser knows no such language or time zone."""

    def __init__(self, place: Place) -> None:
        super().__init__(
            f"the browser knows no place with locale {place.locale} and time zone {place.time_zone}"
        )


class PagePool:
    """The contexts and pages of one open bundle."""

    def __init__(
        self, browser: LaunchedBrowser, origin: str, outlet_port: int | None = None
    ) -> None:
        self._browser = browser
        self._origin = origin
        self._proxy = None if outlet_port is None else proxy_of(outlet_port, origin)
        self._script = page_script()
        self._running: Browser | None = None  # the one that the pages are in
        self._pages: dict[Page, StoryPage] = {}
        self._contexts: dict[Page, BrowserContext] = {}
        self._places: dict[Page, Place] = {}  # where each context is

    async def page(self, kind: Page, place: Place = HERE) -> StoryPage:
        """Return a page that can show a story; a fresh one shares nothing with any other.

        A context is of one place, which the browser sets once for it and all its workers.
        """
        elsewhere = self._places.get(kind, place) != place
        if kind is not Page.SHARED or elsewhere or self._has_company(kind):
            await self._discard_context(kind)
        self._places[kind] = place
        page = self._pages.get(kind)
        if page is not None and page.shown < STORIES_PER_PAGE and page.is_usable:
            return page
        await self.discard(kind)
        try:
            return await self._opened(kind)
        except (Error, TimeoutError) as error:  # the browser is gone, or does not answer any more
            if UNKNOWN_PLACE.search(str(error)):
                await self._discard_context(kind)
                raise UnknownPlaceError(place) from None
            await self.restart()
        try:
            return await self._opened(kind)
        except (Error, TimeoutError) as error:
            raise BrowserFailedError("the browser opens no page", str(error)) from None

    def loaded(self, order: Order) -> StoryPage | None:
        """Return the bundle's page if this story may be shown in its document as it is."""
        page, place = self._pages.get(Page.SHARED), Place.of(order.look)
        if (
            page is None
            or page.is_spent
            or self._places.get(Page.SHARED) != place
            or self._has_company(Page.SHARED)
        ):
            return None
        return page if page.can_switch_to(order) else None

    async def discard(self, kind: Page) -> None:
        """Be rid of a page: by closing it, else its context, else the whole browser."""
        page = self._pages.pop(kind, None)
        if page is not None and not await _done(page.page.close):
            await self._discard_context(kind)

    async def dismiss(self, kind: Page) -> None:
        """Be rid of a context that no other story is shown in, and of all that still runs in it.

        Workers and other windows of its story would take their share of the machine.
        """
        await self._discard_context(kind)

    async def _discard_context(self, kind: Page) -> None:
        self._pages.pop(kind, None)
        context = self._contexts.pop(kind, None)
        if context is not None and not await _done(context.close):
            await self.restart()

    def _has_company(self, kind: Page) -> bool:
        """Tell whether a story left a window open beside the page: its scripts would run on."""
        context = self._contexts.get(kind)
        return context is not None and len(context.pages) > 1

    async def restart(self) -> None:
        """Start again with a new browser."""
        self._forget()
        await self._browser.stop()

    def _forget(self) -> None:
        self._pages.clear()
        self._contexts.clear()

    async def close(self) -> None:
        """Close every context; the browser stays for the next bundle."""
        for kind in list(self._contexts):
            await self._discard_context(kind)

    async def _opened(self, kind: Page) -> StoryPage:
        browser = await self._browser.start()
        if browser is not self._running:
            self._forget()
            self._running = browser
        async with asyncio.timeout(OPEN_S):
            context = self._contexts.get(kind) or await _new_context(
                browser, self._script, self._proxy, self._places[kind]
            )
            self._contexts[kind] = context
            page = self._pages[kind] = await StoryPage.open(context, self._origin)
            return page


async def _new_context(
    browser: Browser, script: str, proxy: ProxySettings | None, place: Place
) -> BrowserContext:
    context = await browser.new_context(
        proxy=proxy,
        no_viewport=True,  # the window is set for each story
        locale=place.locale,
        timezone_id=place.time_zone,
        color_scheme="light",
        reduced_motion="reduce",
        accept_downloads=False,
        service_workers="allow",
        permissions=[],
    )
    await context.add_init_script(script)
    return context


async def _done(close: Callable[[], Awaitable[object]]) -> bool:
    """Close something, in time or not at all; what is gone already is closed."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await close()
    except TimeoutError:
        return False
    except Error:
        return True
    return True
