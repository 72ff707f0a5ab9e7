"""When a failed attempt may try again: base x 2^n, capped, stretched by jitter."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.queue.job import Failed, Retried

JITTER = 0.2  # a delay is stretched by up to this part of itself, never shortened


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The wait between two tries at a job of a kind; how many there are is said by the job."""

    base: timedelta = timedelta(seconds=5)
    ceiling: timedelta = timedelta(minutes=10)

    def after_failure(
        self,
        charged: int,
        limit: int,
        error: str,
        draw: Callable[[], float],
        not_before: timedelta = timedelta(),
    ) -> Retried | Failed:
        """Decide what follows a failure.

        `charged` counts this attempt, unless its recorded results took the charge back; `limit` is
        the job's own. `draw` is in [0, 1). `not_before` is the least wait, ceiling or not.
        """
        if charged >= limit:
            return Failed(error)
        delay = max(not_before, min(self.ceiling, self.base * 2 ** max(charged - 1, 0)))
        return Retried(after=delay * (1 + JITTER * draw()), error=error)
