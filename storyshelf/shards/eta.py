"""How fast a build moves and when it will be done, with a range rather than a promise."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import sqrt
from statistics import fmean, pstdev

WINDOW = timedelta(seconds=60)
WINDOW_COMPLETIONS = 20  # a slow build is judged by these, however long they took
MIN_SPREAD = 0.1  # nobody knows the rest to better than a tenth
MAX_SPREAD = 0.75  # a range from a quarter to nearly double: wider says nothing


@dataclass(frozen=True, slots=True)
class Eta:
    """Completions a second, and the seconds that are left: at best, likely, at worst."""

    rate_per_s: float
    low_s: float
    likely_s: float
    high_s: float


def estimate(
    done_at: Sequence[datetime], remaining: int, running_slots: int, now: datetime
) -> Eta | None:
    """Judge by the completions of the last 60 s or the last 20, whichever reach further back.

    None where nothing can be said: fewer than two completions, no time between them, or work
    left and nobody on it. The rate falls while nothing completes, so a stalled build shows it.
    The worst case adds the length of one capture: at the end slots fall idle one after another.
    """
    times = _window(sorted(done_at), now)
    if len(times) <= 1 or (remaining > 0 and running_slots <= 0):
        return None
    elapsed_s = (now - times[0]).total_seconds()
    if elapsed_s <= 0:
        return None
    rate_per_s = (len(times) - 1) / elapsed_s
    if remaining <= 0:
        return Eta(rate_per_s, 0.0, 0.0, 0.0)
    likely_s = remaining / rate_per_s
    spread = _spread(times)
    one_capture_s = running_slots / rate_per_s  # Little: in progress = rate x time of each
    return Eta(
        rate_per_s=rate_per_s,
        low_s=likely_s * (1 - spread),
        likely_s=likely_s,
        high_s=likely_s * (1 + spread) + one_capture_s,
    )


@dataclass(frozen=True, slots=True)
class PastDurations:
    """What captures of the same stories took in an earlier build: the middle half, and the mean."""

    low_ms: float
    mean_ms: float
    high_ms: float


def estimate_from_past(past: PastDurations, remaining: int, running_slots: int) -> Eta | None:
    """Judge by what the same stories took before, while too little has completed to measure.

    None where nobody works on it, or nothing is known.
    """
    if running_slots <= 0 or past.mean_ms <= 0:
        return None
    each_s = remaining / running_slots / 1000  # a millisecond of every capture is this long
    return Eta(
        rate_per_s=1000 * running_slots / past.mean_ms,
        low_s=each_s * min(past.low_ms, past.mean_ms),  # a few slow ones lift a mean past a quarter
        likely_s=each_s * past.mean_ms,
        high_s=each_s * max(past.high_ms, past.mean_ms),
    )


def _window(times: Sequence[datetime], now: datetime) -> Sequence[datetime]:
    """Return the completions that count, led by the moment from which they are counted."""
    recent = [time for time in times if time > now - WINDOW]
    if len(recent) < WINDOW_COMPLETIONS:
        return times[-(WINDOW_COMPLETIONS + 1) :]
    return recent if len(recent) == len(times) else [now - WINDOW, *recent]


def _spread(times: Sequence[datetime]) -> float:
    """Return the standard error of the mean gap, as a share of it, within bounds."""
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    mean = fmean(gaps)
    if mean <= 0:
        return MAX_SPREAD
    return min(MAX_SPREAD, max(MIN_SPREAD, pstdev(gaps) / mean / sqrt(len(gaps))))
