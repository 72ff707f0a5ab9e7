"""Which database a process works on: the one that is named, else the embedded one if it runs."""

from pathlib import Path

from storyshelf.db.embedded import EmbeddedPostgres, ServerState
from storyshelf.errors import StoryshelfError


class NoDatabaseError(StoryshelfError):
    """No database is named, and the embedded one does not run."""

    http_status = 503

    def __init__(self, data_dir: Path) -> None:
        super().__init__(
            "There is no database: none is named, and the embedded one does not run",
            where=str(data_dir),
            next_step="Run `storyshelf up` for everything, or `storyshelf db start` for the "
            "database alone; or set STORYSHELF_DATABASE_URL.",
        )


def running_url(named: str | None, data_dir: Path) -> str:
    """Return the url of a database that is there already; nothing is started. Blocks.

    Raises NoDatabaseError. One that is named is taken at its word, not looked at.
    """
    if named is not None:
        return named
    server = EmbeddedPostgres(data_dir)
    if server.status().state is ServerState.STOPPED:
        raise NoDatabaseError(data_dir)
    return server.url
