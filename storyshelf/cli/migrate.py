"""`storyshelf migrate`: bring the database to the schema of this version."""

import asyncio

from storyshelf.cli.database import plain_errors, ready_url
from storyshelf.clock import SystemClock
from storyshelf.db.migrate import Migrated, upgrade
from storyshelf.settings import Settings, read_settings


def migrate() -> None:
    """Bring the database up to date.

    Safe while the version before it still runs, and from several machines at once. The embedded
    server is started if it does not run, and left running.
    """
    settings = read_settings()
    place = "the embedded database" if settings.named_url is None else "STORYSHELF_DATABASE_URL"
    done = asyncio.run(_migrated(settings))
    print("\n".join(report(done, place)))


def report(done: Migrated, place: str) -> list[str]:
    """Return what was done, a line each step."""
    if not done.steps:
        return [f"Nothing to do: {place} is at {done.after}."]
    begin = done.before or "an empty database"
    return [
        *(f"Applied {step}" for step in done.steps),
        f"Brought {place} from {begin} to {done.after}.",
    ]


async def _migrated(settings: Settings) -> Migrated:
    with plain_errors():
        return await upgrade(await ready_url(settings), SystemClock())
