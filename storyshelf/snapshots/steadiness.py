"""How much it takes to see a story hold still: the rungs of a capture's ladder."""

from enum import StrEnum


class Level(StrEnum):
    """The rung on which a picture was believed, from the cheapest on."""

    FIRST = "first"  # its first picture was the baseline's, byte for byte
    PAIR = "pair"  # two pictures in a row were the same bytes
    AGAIN = "again"  # only after the page was brought to rest again, and the network was quiet
    NEVER = "never"  # it moved to the end
