"""How many snapshots of a build stand where."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.snapshots.snapshot import Verdict


@dataclass(frozen=True, slots=True)
class Counts:
    """How many snapshots of a build stand where."""

    verdicts: Mapping[Verdict, int]
    accepted: int
    denied: int
    undecided: int

    def of(self, *verdicts: Verdict) -> int:
        """Return how many have one of the verdicts."""
        return sum(self.verdicts.get(verdict, 0) for verdict in verdicts)

    @property
    def total(self) -> int:
        """Return how many there are."""
        return sum(self.verdicts.values())
