"""A consumer whose browser is not the one it began with ends, and gives back what it cannot do."""

from collections.abc import Callable
from typing import Any

import structlog

from consumer.environment import EnvironmentMovedError
from storyshelf.queue.job import Requeued
from storyshelf.queue.job_kind import Handle, Work

log = structlog.get_logger()


def ending_when_moved(handle: Handle, end: Callable[[], None]) -> Handle:
    """Return the handler with this besides: where the environment has moved, `end` is called.

    The job goes back uncharged. It is nobody's fault, another consumer may have what it needs, and
    one that went on claiming would fail all that waits, build after build.
    """

    async def handled(work: Work, parsed: Any) -> Any:
        try:
            return await handle(work, parsed)
        except EnvironmentMovedError as moved:
            log.error("environment.moved", error=str(moved))  # noqa: TRY400  # where is known
            end()
            return Requeued(str(moved))

    return handled
