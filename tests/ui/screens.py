"""Pictures of every page for people to look at: `python -m tests.ui.screens FOLDER [WORD...]`.

Each page is shot at two widths, light and dark; words choose those whose names have one of them.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from sqlalchemy.engine.url import make_url

from storyshelf.clock import SystemClock
from storyshelf.db import migrate
from storyshelf.db.engine import Database
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import a_hand
from tests.db.server import on_server, running_server
from tests.ui.browsing import browsing
from tests.ui.every_page import furnish
from tests.ui.looking import each_way, opened

NAME = "screens"


async def shoot(url: str, folder: Path, words: list[str]) -> None:
    """Fill a server, and write a picture of each page."""
    await migrate.upgrade(url, SystemClock())
    db = Database(url)
    with tempfile.TemporaryDirectory() as blobs:
        hand = await a_hand(db, LocalBlobs(Path(blobs)))
        pages = await furnish(hand)
        async with browsing(db, Path(blobs)) as here:
            for shown in pages:
                if words and not any(word in shown.name for word in words):
                    continue
                async with opened(here, shown) as page:
                    async for how in each_way(page):
                        name = f"{shown.name}-{how}.png"
                        await page.screenshot(path=folder / name, full_page=True)
            here.said.clear()
    await db.close()


def main(arguments: list[str]) -> None:
    """Start a database of its own, and shoot."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    with running_server() as server:
        on_server(server.admin_url, f"CREATE DATABASE {NAME} OWNER storyshelf")
        url = make_url(server.url).set(database=NAME).render_as_string(hide_password=False)
        asyncio.run(shoot(url, folder, arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
