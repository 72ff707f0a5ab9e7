"""Open a page as somebody who comes to it, and look at it small and large, light and dark."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from playwright.async_api import Page

from tests.people import ADA
from tests.ui.browsing import Browsing
from tests.ui.every_page import OUTSIDER, STRANGER, Shown, stay

SIZES_PX = ((320, 700), (1440, 900))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@asynccontextmanager
async def opened(here: Browsing, shown: Shown) -> AsyncIterator[Page]:
    """Go to the page, do what is to be done there, and close the window in the end."""
    await stay(here.db)
    here.secrets.setdefault(OUTSIDER, f"secret of {OUTSIDER}")  # of `tests.people.sign_in`
    who = ADA.email if shown.who == STRANGER else shown.who
    page = await here.page(who, reduced_motion="reduce")
    if shown.who == STRANGER:
        await page.context.clear_cookies()
    await page.goto(shown.link, wait_until="load")
    if shown.act is not None:
        await shown.act(page)
        await page.wait_for_load_state("load")
    yield page
    await page.context.close()


async def each_way(page: Page) -> AsyncIterator[str]:
    """Show the page at each size in each scheme, and say which that is."""
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        for width, height in SIZES_PX:
            await page.set_viewport_size({"width": width, "height": height})
            yield f"{width}-{scheme}"
