"""How long a handler may wait for one thing, so that a lease outlives every wait."""

from dataclasses import dataclass

ONE_SHARE = 0.4  # of a lease: the other half and more is left to notice it and to end the attempt
READ_SHARE = 0.3
GRACE_SHARE = 0.15  # with the read, under half a lease
ONE_CEILING_S = 25.0  # two pictures of the largest size through a socket, and then some
READ_CEILING_S = 20.0  # for a bundle to load once
GRACE_CEILING_S = 10.0


@dataclass(frozen=True, slots=True)
class Waits:
    """The deadlines of a handler's waits."""

    one_s: float  # an answer that needs no page
    read_ms: int  # a bundle's page that tells its stories
    grace_s: float  # beyond what a child was given, which it should have kept


def waits_within(lease_s: float) -> Waits:
    """Return the waits that go with a lease; a handler touches it between two of them."""
    return Waits(
        one_s=min(ONE_CEILING_S, ONE_SHARE * lease_s),
        read_ms=round(1000 * min(READ_CEILING_S, READ_SHARE * lease_s)),
        grace_s=min(GRACE_CEILING_S, GRACE_SHARE * lease_s),
    )
