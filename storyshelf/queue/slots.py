"""How much one process takes on at a time, lane by lane, and what of it is kept for people."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from storyshelf.queue.job import Lease, Priority

RESERVED_ONE_IN = 4  # places; a process that is full still answers somebody who waits at once
Floors = Mapping[Priority, int]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a claim may bring on a lane: `free` jobs, of them `shared` that nobody waits for.

    `floors` are the tags below which nothing ready is expected, class by class: a claim that starts
    there does not walk over what has just gone. None: it has to look at everything.
    """

    free: int
    shared: int
    floors: Floors = field(default_factory=dict)


@dataclass(slots=True)
class _Places:
    count: int
    reserved: int
    urgent: int = 0  # taken by jobs that somebody waits for
    other: int = 0
    held: int = 0  # for a claim that is under way

    @property
    def free(self) -> int:
        return self.count - self.urgent - self.other - self.held

    @property
    def shared(self) -> int:
        return max(min(self.free, self.count - self.reserved - self.other), 0)


class Slot(Protocol):
    """The place of an attempt in its process."""

    def free(self) -> None:
        """Take note that the handler has ended; called once."""
        ...

    def end(self) -> None:
        """Take note that nothing of the attempt works any more; called once, last."""
        ...


class Slots:
    """Free and taken places; a place is taken before the claim that may fill it."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self._lanes = {lane: _Places(n, n // RESERVED_ONE_IN) for lane, n in places.items()}
        self.count = sum(places.values())

    @property
    def lanes(self) -> frozenset[str]:
        """The lanes that are offered at all."""
        return frozenset(self._lanes)

    @property
    def taken(self) -> int:
        """How many places are in use, or held for a claim that is under way."""
        return self.count - sum(places.free for places in self._lanes.values())

    def hold_all_free(self) -> dict[str, Offer]:
        """Hold every free place for a claim, and return what it may bring on each lane."""
        offers = {
            lane: Offer(places.free, places.shared)
            for lane, places in self._lanes.items()
            if places.free
        }
        for lane, offer in offers.items():
            self._lanes[lane].held = offer.free
        return offers

    def fill(self, leases: Iterable[Lease]) -> None:
        """Give the places that were held to what the claim brought, and free the others."""
        for places in self._lanes.values():
            places.held = 0
        for lease in leases:
            self._count(lease, 1)

    def give_back(self, lease: Lease) -> None:
        """Free the place that the lease's work had."""
        self._count(lease, -1)

    def has_shared(self, lane: str) -> bool:
        """Say whether the lane has a free place for any job."""
        return self._lanes[lane].shared > 0

    def _count(self, lease: Lease, by: int) -> None:
        places = self._lanes[lease.lane]
        if lease.priority is Priority.INTERACTIVE:
            places.urgent += by
        else:
            places.other += by
