"""Where stories are shot: one bundle in one browser, and a next story whatever the last one did."""

from dataclasses import replace
from hashlib import sha256

from playwright.async_api import Error

from consumer.capture import tracing
from consumer.capture.aftermath import Aftermath
from consumer.capture.browser import LaunchedBrowser
from consumer.capture.deadline import Budget, CallDeadlineError, OutOfTimeError
from consumer.capture.examine import with_findings
from consumer.capture.page_pool import PagePool, Place, UnknownPlaceError
from consumer.capture.page_watch import (
    NavigatedAwayError,
    PageCrashedError,
    UnreadableAnswerError,
)
from consumer.capture.parameters import ReadParameters, read_parameters
from consumer.capture.sitting import OnStage, Picture, Sitting
from consumer.capture.story_page import Order, StoryPage
from consumer.capture.take_picture import Glance, KnownEndingError, glance, take_picture
from consumer.capture.verdict import MAX_MESSAGE, plain
from consumer.messages import ErrorCode, Page, Stage, StoryError
from consumer.refusals import Refusal
from storyshelf.clock import Clock
from storyshelf.errors import StoryshelfError

RECOVERY_MS = 8_000  # kept of every story's time: closing what hangs, by page and by context
HOPELESS = (
    CallDeadlineError,
    OutOfTimeError,
    KnownEndingError,
)  # a second attempt would only cost the time again
HOSTILE = (NavigatedAwayError, UnreadableAnswerError)
TROUBLE = (PageCrashedError, *HOSTILE, *HOPELESS, Error)  # no page is left to ask
CODES = {
    PageCrashedError: ErrorCode.PAGE_CRASHED,
    NavigatedAwayError: ErrorCode.NAVIGATED_AWAY,
    CallDeadlineError: ErrorCode.PAGE_UNRESPONSIVE,
    OutOfTimeError: ErrorCode.RENDER_TIMEOUT,
}
GLANCE_S = 9.0  # for a story in a switched page: one that hangs is to have its time when loaded
MOST_DELAY_MS = 1_000  # of one that is looked at there: a longer one outweighs what a load takes
ATTEMPTS = 2  # a page may have died for a reason that was not its own; not twice


class NothingOpenError(StoryshelfError):
    """A story was asked for before a bundle was open."""

    def __init__(self) -> None:
        super().__init__("no bundle is open", next_step="Open one first.")


class UnreadableBundleError(StoryshelfError):
    """The bundle loads, but does not say what its stories ask for."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the Storybook did not list its stories: {why}",
            next_step="Open its iframe.html in a browser and look at the console.",
        )


class Studio:
    """Takes one picture at a time."""

    def __init__(self, browser: LaunchedBrowser, clock: Clock) -> None:
        self._browser = browser
        self._clock = clock
        self._pool: PagePool | None = None
        self._sitting: Sitting | None = None
        self._aftermath = Aftermath()

    async def open(self, origin: str, outlet_port: int | None = None) -> None:
        """Shoot the bundle at this origin from now on; the outlet is its pages' only other way."""
        await self.close()
        self._pool = PagePool(self._browser, origin, outlet_port)
        self._aftermath = Aftermath()

    async def close(self) -> None:
        """Let go of the open bundle."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def shoot(self, order: Order, kind: Page, timeout_ms: int, on_stage: OnStage) -> Picture:
        """Return the story's picture, or why there is none; both within the time.

        A switched page's picture is returned only if it is the baseline's; else the story is loaded
        and shot again. If that one is the baseline's, the picture says so, as order dependence.

        Raises BrowserFailedError if no page can be had, which is not the story's fault.
        """
        if kind is Page.TRACED:
            return await self._shoot_traced(order, timeout_ms, on_stage)
        budget = Budget.of_ms(self._clock, max(timeout_ms - RECOVERY_MS, timeout_ms / 2))
        if kind is Page.SWITCHED:
            return await self._switched(order, budget, on_stage)
        picture = await self._loaded(order, kind, budget, on_stage)
        if kind is Page.FRESH:
            await self._open_pool().dismiss(kind)
        return replace(picture, page=kind)

    async def _switched(self, order: Order, budget: Budget, on_stage: OnStage) -> Picture:
        look = await self._glance(order, budget, on_stage)
        if look is not None and look.picture is not None:
            self._aftermath.did_not_matter(look.left)
            return look.picture
        picture = await self._loaded(order, Page.SHARED, budget, on_stage)
        if look is not None and _is_baseline(picture, order) and look.is_telling(picture):
            dependence = self._aftermath.did_matter(look.left, look.before)
            return replace(picture, order_dependence=dependence)
        return picture

    async def _glance(self, order: Order, budget: Budget, on_stage: OnStage) -> Glance | None:
        """Look at the story in the page that is loaded; None if there is none, or none any more.

        Only the baseline's picture is returned. Whatever else is wrong here is not told: the story
        is loaded by itself next.
        """
        is_wanted = order.baseline is not None and order.delay_ms <= MOST_DELAY_MS
        page = self._open_pool().loaded(order) if is_wanted else None
        if page is None:
            return None
        short = Budget.of_ms(self._clock, 1_000 * budget.at_most(GLANCE_S))
        self._sitting = Sitting(page, order, short, on_stage)
        try:
            look = await glance(self._sitting, self._aftermath)
            if look.picture is None or not _is_baseline(look.picture, order):
                return replace(look, picture=None)
            sitting = replace(self._sitting, budget=budget)
            return replace(look, picture=await with_findings(sitting, look.picture))
        except TROUBLE:
            await on_stage(Stage.RECOVERING)
            await self._open_pool().discard(Page.SHARED)
            return None

    async def _loaded(self, order: Order, kind: Page, budget: Budget, on_stage: OnStage) -> Picture:
        pool = self._open_pool()
        before: Exception | None = None
        reloaded: StoryPage | None = None  # a mock does so once its worker is there, which stays
        for attempt in range(1, ATTEMPTS + 1):
            try:
                page = reloaded or await pool.page(kind, Place.of(order.look))
            except UnknownPlaceError as error:
                return Picture(b"", 0, 0, StoryError(ErrorCode.CONFIG_FAILED, str(error), ""))
            is_again = reloaded is not None
            try:
                return await self._shown(Sitting(page, order, budget, on_stage, is_again))
            except TROUBLE as error:
                trouble, failed = error, _without_picture(page, error, before)
            await on_stage(Stage.RECOVERING)
            reloaded = page if _has_reloaded(trouble) and attempt < ATTEMPTS else None
            if reloaded is None:
                await pool.discard(kind)
            if attempt == ATTEMPTS or isinstance(trouble, HOPELESS):
                return failed
            before = trouble
        raise AssertionError("the last attempt returns")

    async def _shown(self, sitting: Sitting) -> Picture:
        """Load the story; where all was well, others may follow in its document."""
        self._sitting = sitting
        picture = await with_findings(sitting, await take_picture(sitting))
        self._aftermath.begin()
        if not (picture.error or picture.warnings):
            sitting.page.cast.append(sitting.order.story_id)
        return picture

    async def _shoot_traced(self, order: Order, timeout_ms: int, on_stage: OnStage) -> Picture:
        """Shoot it once in a context of its own, and record all of that."""
        pool = self._open_pool()
        kept_ms = RECOVERY_MS + tracing.KEPT_MS
        budget = Budget.of_ms(self._clock, max(timeout_ms - kept_ms, timeout_ms / 2))
        try:
            page = await pool.page(Page.TRACED, Place.of(order.look))
        except UnknownPlaceError as error:
            failed = StoryError(ErrorCode.CONFIG_FAILED, str(error), "")
            return Picture(b"", 0, 0, failed, trace=tracing.no_page())
        recording = await tracing.begin(page.page.context, order.story_id)
        try:
            self._sitting = Sitting(page, order, budget, on_stage)
            picture = await take_picture(self._sitting)
        except TROUBLE as error:
            warnings, console = page.watch.warnings(), page.watch.console.lines()
            picture = Picture(b"", 0, 0, _told(error), warnings, console=console)
            await on_stage(Stage.RECOVERING)
        trace = await recording.end()
        await pool.dismiss(Page.TRACED)
        return replace(picture, trace=trace)

    def note_refusal(self, refusal: Refusal) -> None:
        """Note it with the story before the camera, unless a document of another one says it.

        A switched page's document may still have the address of the story it was loaded with.
        """
        sitting = self._sitting
        if sitting is None:
            return
        if refusal.story in {None, sitting.order.story_id, *sitting.page.cast[:1]}:
            sitting.page.watch.note_report(refusal.url)

    async def read_stories(self, timeout_ms: int) -> ReadParameters:
        """Load the bundle once and read what its stories ask for."""
        pool = self._open_pool()
        budget = Budget.of_ms(self._clock, timeout_ms)
        page = await pool.page(Page.SHARED)
        function = "() => window.__storyshelf__.parameters.all()"
        try:
            await page.show_nothing(budget)
            return read_parameters(await page.ask(function, budget.left_s()))
        except TROUBLE as error:
            await pool.discard(Page.SHARED)
            raise UnreadableBundleError(_told(error).message) from None

    def _open_pool(self) -> PagePool:
        if self._pool is None:
            raise NothingOpenError
        return self._pool


def _is_baseline(picture: Picture, order: Order) -> bool:
    return not picture.error and sha256(picture.png).hexdigest() == order.baseline


def _without_picture(page: StoryPage, error: Exception, before: Exception | None) -> Picture:
    """Tell why there is none; what took the time tells more than that there was none left."""
    told = before if before is not None and isinstance(error, OutOfTimeError) else error
    warnings, console = page.watch.warnings(), page.watch.console.lines()
    return Picture(b"", 0, 0, _told(told), warnings, console=console)


def _has_reloaded(error: Exception) -> bool:
    return isinstance(error, NavigatedAwayError) and error.is_reload


def _told(error: Exception) -> StoryError:
    if isinstance(error, KnownEndingError):
        return error.ending
    for kind, code in CODES.items():
        if isinstance(error, kind):
            return StoryError(code, str(error), "")
    text = plain(str(error), MAX_MESSAGE)
    gone = "has been closed" in text  # the browser died with its pages
    return StoryError(ErrorCode.PAGE_CRASHED if gone else ErrorCode.RENDER_FAILED, text, "")
