"""When a request is sent again, and after how long."""

from collections.abc import Callable
from dataclasses import dataclass

DEFAULT_TRIES = 6  # about 20 s in all: a server that restarts is back by then
BASE_S = 0.5
CEILING_S = 8.0
LONGEST_ASKED_S = 60.0  # of a server's Retry-After; more would look like a hang
JITTER = 0.2

# Not every 5xx: what is not implemented (501) or has no room left (507) stays so.
PASSING_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing waits between tries; `draw` gives a random number from 0 to 1."""

    draw: Callable[[], float]
    tries: int = DEFAULT_TRIES

    def after(self, failures: int, asked: str | None = None) -> float | None:
        """Return the seconds to wait after that many failures; None = give up.

        `asked` is the server's Retry-After: seconds are honoured, a date is not.
        """
        if failures >= self.tries:
            return None
        wait_s = min(CEILING_S, BASE_S * 2.0 ** (failures - 1)) * (1 + JITTER * self.draw())
        if asked is not None and asked.strip().isdecimal():
            return max(wait_s, min(LONGEST_ASKED_S, float(asked)))
        return wait_s
