"""Whether what is looked at again and again rises, and how fast; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

SLACK = 0.05  # of the earlier level: what a band may be wide without being called rising


@dataclass(frozen=True, slots=True)
class Point:
    """One look."""

    at_s: float
    value: float


def last_half(points: Sequence[Point]) -> Sequence[Point]:
    """Return what was seen in the second half of the time."""
    middle_s = (points[0].at_s + points[-1].at_s) / 2
    return [each for each in points if each.at_s >= middle_s]


def slope_per_s(points: Sequence[Point]) -> float:
    """Return the slope of the line with the least squares through the points."""
    at_s, level = mean(each.at_s for each in points), mean(each.value for each in points)
    spread = sum((each.at_s - at_s) ** 2 for each in points)
    if not spread:
        return 0.0
    return sum((each.at_s - at_s) * (each.value - level) for each in points) / spread


def rises(points: Sequence[Point], least: float) -> bool:
    """Tell whether the last quarter lies above the third by more than the slack.

    `least` is what does not count as rising, however small the level. Medians, so that a single
    spike, as between two vacuums, says nothing.
    """
    half = last_half(points)
    cut = len(half) // 2
    third, last = (median(each.value for each in part) for part in (half[:cut], half[cut:]))
    return last - third > max(least, SLACK * third)


def each_minute(points: Sequence[Point]) -> Sequence[float]:
    """Return the last look of each minute."""
    by_minute = {int(each.at_s // 60): each.value for each in points}
    return [value for _, value in sorted(by_minute.items())]


def rate_per_s(totals: Sequence[Point], from_s: float, until_s: float) -> float:
    """Return how fast a total rose between the looks that are nearest to the two moments."""
    first = min(totals, key=lambda each: abs(each.at_s - from_s))
    last = min(totals, key=lambda each: abs(each.at_s - until_s))
    return (last.value - first.value) / (last.at_s - first.at_s)
