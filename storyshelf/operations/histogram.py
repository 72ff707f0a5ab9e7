"""Durations in 24 buckets that are the same everywhere, so that counts of them can be added."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

# From the shortest job, which does nothing, to a night in a backlog; each about twice the last, in
# steps that people read. What is stored is counts by position: another bound needs a migration.
BOUNDS_MS = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000),
    *(1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000),
)
BUCKETS = len(BOUNDS_MS) + 1  # the last is for whatever took longer

Counts = Sequence[int]


def empty() -> list[int]:
    """Return the counts of nothing."""
    return [0] * BUCKETS


def bucket_of(took_ms: float) -> int:
    """Return the position of the bucket a duration falls in; a bound belongs to the one below."""
    return bisect_left(BOUNDS_MS, took_ms)


def merge(one: Counts, other: Counts) -> list[int]:
    """Return the counts of both."""
    return [a + b for a, b in zip(one, other, strict=True)]


def quantile(counts: Counts, share: float) -> float | None:
    """Return the duration in ms that this share of all is within; None: there are none.

    Right within its bucket, and even inside it; beyond the last bound it is that bound, which is
    all that is known.
    """
    total = sum(counts)
    if total == 0:
        return None
    wanted = share * total
    reached = list(accumulate(counts))
    at = next(place for place, below in enumerate(reached) if below >= wanted and counts[place])
    if at == len(BOUNDS_MS):
        return float(BOUNDS_MS[-1])
    lower = BOUNDS_MS[at - 1] if at else 0
    into = (wanted - (reached[at] - counts[at])) / counts[at]
    return lower + (BOUNDS_MS[at] - lower) * into
