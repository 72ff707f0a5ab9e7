"""Which database a command works on: the one that is named, else the embedded server."""

import asyncio

from storyshelf.db.embedded import EmbeddedPostgres
from storyshelf.settings import Settings


def named_url(settings: Settings) -> str | None:
    """Return the url that the operator gave, if any."""
    return settings.database_url.get_secret_value() if settings.database_url else None


def embedded_server(settings: Settings) -> EmbeddedPostgres:
    """Return the embedded server of the settings' data folder, in whatever state it is."""
    return EmbeddedPostgres(settings.data_dir)


async def ready_url(settings: Settings) -> str:
    """Return the url of a database that answers; the embedded one is started if need be."""
    named = named_url(settings)
    if named is not None:
        return named
    return await asyncio.to_thread(lambda: embedded_server(settings).start())
