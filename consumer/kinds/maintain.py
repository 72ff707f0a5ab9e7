"""Tidy up: each step that was made keeps the lease, and a stop comes between two of them."""

from dataclasses import replace

import structlog

from storyshelf.clock import Clock
from storyshelf.operations.tidy import House, tidy
from storyshelf.queue.job_kind import Work

log = structlog.get_logger(__name__)


class TidyHandler:
    """The handler of `tidy` jobs; what it has done by the time it is stopped stays done."""

    def __init__(self, house: House, clock: Clock) -> None:
        self._house = house
        self._clock = clock

    async def __call__(self, work: Work, _parsed: None) -> None:
        """Tidy everything, unless another process is at it."""
        house = replace(self._house, touch=work.touch)
        done = await tidy(house, self._clock.now())
        if done is None:
            log.info("tidy.left", reason="another process tidies, or makes a backup")
            return
        freed = done.freed
        log.info("tidy.done", builds=done.builds, blobs=freed.blobs, size_bytes=freed.size_bytes)
