"""From where a claim needs to look: what lies below has gone, and only the index still says so.

A transaction that is held open elsewhere keeps vacuum from the entries of jobs that have left, and
a claim would walk over all of them. So it starts at the smallest tag that the last claim of the
lane and class has brought, and looks at nothing else than what is ready. Something may stand below:
a job that went back to its lane, or one whose enqueue saw an older state. Therefore a claim looks
at everything once in a while, and when it is known that something went back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from storyshelf.queue.job import Lease, Priority
from storyshelf.queue.slots import Offer


class LowWater:
    """The floors of one process, lane by lane. They only help: a look at everything has none."""

    def __init__(self, look_at_all_every_s: float) -> None:
        self._every_s = look_at_all_every_s
        self._look_at = float("-inf")
        self._floors: dict[str, dict[Priority, int]] = {}
        self._has_looked = True  # the last claim has looked at everything

    def bound(self, offers: Mapping[str, Offer], now: float) -> dict[str, Offer]:
        """Return the offers with their floors, without any when it is time to look at all."""
        self._has_looked = now >= self._look_at or not self._floors
        if self._has_looked:
            self._look_at = now + self._every_s
            return dict(offers)
        return {
            lane: replace(offer, floors=dict(self._floors.get(lane, {})))
            for lane, offer in offers.items()
        }

    def learn(self, leases: Sequence[Lease]) -> None:
        """Let the next claim start where this one has; one that brought nothing changes nothing."""
        for lane in {lease.lane for lease in leases}:
            found = [lease for lease in leases if lease.lane == lane]
            self._floors.setdefault(lane, {}).update(_smallest_tags(found))

    def forget(self) -> None:
        """Look at everything the next time: something has gone back, or was let in."""
        self._look_at = float("-inf")

    def next_look_s(self, now: float) -> float | None:
        """Return in how long everything has to be looked at, None if the last claim has done it."""
        return None if self._has_looked else max(self._look_at - now, 0.0)


def _smallest_tags(leases: Iterable[Lease]) -> dict[Priority, int]:
    smallest: dict[Priority, int] = {}
    for lease in leases:
        known = smallest.get(lease.priority, lease.fair_tag)
        smallest[lease.priority] = min(known, lease.fair_tag)
    return smallest
