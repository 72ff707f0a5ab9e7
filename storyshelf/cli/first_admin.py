"""The first server administrator: made where nobody is, and signed in by a link until that is over.

Whoever starts the server on this machine may read its database, so a link for them opens nothing
that was closed. It is made anew on each start and lives shortly, for it stays in a terminal.
"""

from datetime import timedelta

from storyshelf.auth import user_store, users
from storyshelf.auth.user_store import NoSuchUserError
from storyshelf.auth.users import FIRST_EMAIL
from storyshelf.cli.database import opened_database
from storyshelf.db.engine import Database
from storyshelf.settings import Settings
from storyshelf.web.links import Links

ACTOR = "storyshelf up"
LIVES = timedelta(minutes=30)
LIVES_MINUTES = round(LIVES.total_seconds() / 60)


async def ensure_administrator(db: Database) -> None:
    """Make the first server administrator where there is no user at all."""
    async with db.transaction() as tx:
        await users.add_first(tx, ACTOR)


async def first_link(settings: Settings, url: str) -> str | None:
    """Return a link that signs the first administrator in; None: they have a password, or left."""
    async with opened_database(settings) as db, db.transaction() as tx:
        try:
            user = await user_store.user_by_email(tx, FIRST_EMAIL)
        except NoSuchUserError:
            return None
        if user.has_password or user.disabled_at is not None:
            return None
        return Links(url).sign_in_link(await users.link(tx, ACTOR, user, LIVES))
