"""How many snapshots of a build stand where."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.snapshots.snapshot import Verdict


@dataclass(frozen=True, slots=True)
class Violations:
    """How often accessibility rules are broken, and how that stands to the baselines."""

    total: int = 0
    new: int = 0
    fixed: int = 0

    def __add__(self, other: "Violations") -> "Violations":
        """Return both together."""
        return Violations(self.total + other.total, self.new + other.new, self.fixed + other.fixed)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many snapshots of a build stand where."""

    verdicts: Mapping[Verdict, int]
    accepted: int
    denied: int
    undecided: int
    violations: Violations | None = None  # None: nobody looked in any of them

    def of(self, *verdicts: Verdict) -> int:
        """Return how many have one of the verdicts."""
        return sum(self.verdicts.get(verdict, 0) for verdict in verdicts)

    @property
    def total(self) -> int:
        """Return how many there are."""
        return sum(self.verdicts.values())
