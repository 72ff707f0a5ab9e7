"""When a build that is captured is to be looked at again, and when its lost shards are sent out.

Both are decided from two samples of it, so that whoever looks need remember nothing.
"""

from dataclasses import dataclass
from datetime import timedelta

from storyshelf.shards.eta import Eta

FLOOR = timedelta(seconds=2)  # a page that is looked at is refreshed no sooner
CEILING = timedelta(seconds=30)  # whoever comes back to a page finds it no older than this
DISPATCH_WINDOW = timedelta(seconds=60)  # what was sent out again is given this long to be claimed


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a build's work is: snapshots still planned, shards that are held, and never begun."""

    remaining: int
    running: int
    never_started: int

    @property
    def can_move(self) -> bool:
        """Tell whether anything may happen to it by itself."""
        return self.running > 0 or self.never_started > 0


def next_sample(standing: Standing, measured: Eta | None, last: timedelta | None) -> timedelta:
    """Return how long to wait until the next sample: half of what is left, within bounds.

    `measured` is what completions say, not what the past does. A build that runs and has completed
    nothing is looked at soon, one that only waits ever more seldom, one that cannot move least.
    """
    if measured is not None:
        return _within(timedelta(seconds=measured.likely_s / 2))
    if standing.running > 0:
        return FLOOR
    if standing.can_move:
        return FLOOR if last is None else _within(2 * last)
    return CEILING


def may_dispatch(now: Standing, before: Standing | None, dispatched_ago: timedelta | None) -> bool:
    """Tell whether shards without a job may be sent out again.

    Once a window, and never while shards are being begun: what moves needs no help, and a shard
    that has just been taken must not be taken for a lost one. One sample alone says nothing.
    """
    if before is None or now.never_started < before.never_started:
        return False
    return dispatched_ago is None or dispatched_ago >= DISPATCH_WINDOW


def _within(wait: timedelta) -> timedelta:
    return min(CEILING, max(FLOOR, wait))
