"""A day that passes, and a sweep as housekeeping makes it."""

import os
from datetime import datetime, timedelta
from pathlib import Path

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.sweep import Removes, sweep
from storyshelf.storage.local_sweep import Freed
from tests.builds.facts import run
from tests.builds.hand import Hand

GRACE = timedelta(hours=24)
PASSES_S = 25 * 3600
AGE_ROWS = "UPDATE blobs SET used_at = used_at - interval '25 hours'"


async def a_day_passes(hand: Hand, folder: Path) -> None:
    """Make everything that is in the storage older than the grace period."""
    await run(hand, AGE_ROWS)
    for path in files_in(folder):
        age(path)


def age(path: Path) -> None:
    then = path.stat().st_mtime - PASSES_S
    os.utime(path, (then, then))


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in files_in(folder)}


def before() -> datetime:
    return SystemClock().now() - GRACE


async def swept(db: Database, blobs: Removes) -> Freed:
    """Sweep to the end, and return what that has freed."""
    return sum([freed async for freed in sweep(db, blobs, before())], start=Freed())
