"""How still a story holds: the rungs of a capture's ladder, and what is remembered of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from storyshelf.ids import SnapshotKey

MEMORY = 20  # captures; what a story did before them hardly counts
TRY_AGAIN_EVERY = 10  # captures; then a story may show that it needs less than it did


class Level(StrEnum):
    """The rung on which a picture was believed, from the cheapest on."""

    FIRST = "first"  # its first picture was the baseline's, byte for byte
    PAIR = "pair"  # two pictures in a row were the same bytes
    AGAIN = "again"  # only after the page was brought to rest again, and the network was quiet
    NEVER = "never"  # it moved to the end


# What a capture adds to a story's flakiness, which is the mean of the latest ones.
WEIGHTS: Mapping[Level, float] = {
    Level.FIRST: 0.0,
    Level.PAIR: 0.0,
    Level.AGAIN: 0.5,
    Level.NEVER: 1.0,
}


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What is remembered of a snapshot's captures; `flakiness` is from 0 to 1."""

    key: SnapshotKey
    level: Level
    captures: int
    needed_more: int
    unstable: int
    flakiness: float


def start_of(level: Level, captures: int) -> Level:
    """Return the rung to begin on: at once where the story was last seen to need more."""
    needs_more = WEIGHTS[level] > 0 and captures % TRY_AGAIN_EVERY
    return Level.AGAIN if needs_more else Level.PAIR
