"""The `storyshelf-consumer` program."""

import asyncio
import sys

import structlog

from consumer.launcher import run_consumer
from consumer.wiring import frame_of
from storyshelf import logs
from storyshelf.db.embedded import EmbeddedPostgres, ServerState
from storyshelf.errors import StoryshelfError
from storyshelf.queue.failpoint import Failpoint, no_failpoint
from storyshelf.settings import Settings, read_settings

EXIT_UNFIT = 3  # a supervisor need not try again until something was mended

log = structlog.get_logger(__name__)


class NoDatabaseError(StoryshelfError):
    """No database is named, and the embedded one does not run."""

    http_status = 503

    def __init__(self, settings: Settings) -> None:
        super().__init__(
            "There is no database to take jobs from",
            where=str(settings.data_dir),
            next_step="Set STORYSHELF_DATABASE_URL, or run `storyshelf db start` first.",
        )


def main(failpoint: Failpoint = no_failpoint) -> None:
    """Run a consumer until a signal ends it."""
    try:
        settings = read_settings()
        logs.configure(settings.log_level, settings.log_format)
        asyncio.run(run_consumer(frame_of(settings, _database_url(settings), failpoint)))
    except* StoryshelfError as group:
        for error in _leaves(group):
            sys.stderr.write(f"Error: {error}\n")
        raise SystemExit(EXIT_UNFIT) from None


def _database_url(settings: Settings) -> str:
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    server = EmbeddedPostgres(settings.data_dir)
    if server.status().state is ServerState.STOPPED:
        raise NoDatabaseError(settings)
    return server.url


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    return [
        leaf
        for each in group.exceptions
        for leaf in (_leaves(each) if isinstance(each, BaseExceptionGroup) else [each])
    ]


if __name__ == "__main__":
    main()
