"""What the browser itself can do: one page, its viewport shot over and over by CDP, no more."""

import base64
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import CDPSession, Page, ViewportSize, sync_playwright

from bench.capture_books import Book, spread
from bench.plain_playwright import RENDERED, served
from consumer.capture.browser import DETERMINISM

PAGES = 6  # stories of the Storybook, spread over all of it
SHOTS = 6  # of each; the first is not counted, it may find a page that still moves
WINDOW: ViewportSize = {"width": 1280, "height": 720}


@dataclass(frozen=True, slots=True)
class RawRate:
    """Mean milliseconds of a shot: as a PNG, and as one that is hardly compressed."""

    png_ms: float
    fast_png_ms: float

    @property
    def per_s(self) -> float:
        """Return the pictures a second of one page that does nothing else."""
        return 1000 / self.png_ms

    @property
    def encode_ms(self) -> float:
        """Return what compressing takes of a shot: the rest is drawing and sending."""
        return max(0.0, self.png_ms - self.fast_png_ms)


def raw_rate(browser: Path, book: Book) -> RawRate:
    """Shoot some of the stories many times each, with our own browser's flags."""
    with served(book.folder) as origin, sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=list(DETERMINISM))
        page = launched.new_page(viewport=WINDOW)
        session = page.context.new_cdp_session(page)
        slow, fast = [], []
        for story in spread(book.stories, PAGES):
            _show(page, f"{origin}/iframe.html?id={story}&viewMode=story")
            slow.append(_shot_ms(session, is_fast=False))
            fast.append(_shot_ms(session, is_fast=True))
        launched.close()
    return RawRate(sum(slow) / len(slow), sum(fast) / len(fast))


def _show(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_function(RENDERED)
    page.wait_for_load_state("networkidle")


def _shot_ms(session: CDPSession, *, is_fast: bool) -> float:
    parameters = {"format": "png", "optimizeForSpeed": is_fast}
    session.send("Page.captureScreenshot", parameters)
    began = time.monotonic()
    for _ in range(SHOTS - 1):
        base64.b64decode(session.send("Page.captureScreenshot", parameters)["data"])
    return 1000 * (time.monotonic() - began) / (SHOTS - 1)
