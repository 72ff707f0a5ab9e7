"""How much one process takes on at a time, lane by lane."""

from collections.abc import Mapping


class Slots:
    """Free and taken places; a place is taken before the claim that may fill it."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self._free = dict(places)
        self._places = sum(places.values())

    @property
    def lanes(self) -> frozenset[str]:
        """The lanes that are offered at all."""
        return frozenset(self._free)

    @property
    def taken(self) -> int:
        """How many places are in use, or held for a claim that is under way."""
        return self._places - sum(self._free.values())

    def take_all_free(self) -> dict[str, int]:
        """Take every free place, and return how many that was on each lane that had one."""
        taken = {lane: free for lane, free in self._free.items() if free}
        self._free = dict.fromkeys(self._free, 0)
        return taken

    def give_back(self, lane: str, places: int = 1) -> None:
        """Free places of a lane again."""
        self._free[lane] += places

    def has_free(self, lane: str) -> bool:
        """Say whether the lane has a free place."""
        return self._free[lane] > 0
