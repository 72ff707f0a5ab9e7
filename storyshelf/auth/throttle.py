"""How often a sign-in may fail: for one account, and from one address.

Each has a small store of failures that fills up again with time. A try takes one out before the
password is looked at, so that a thousand tries at once are as few as one after the other; a right
one puts it back. Who guesses is made slow, and a sign-in link is not throttled, so that nobody is
locked out by another's guesses for good. All of it is in the memory of one process, bounded, and
forgotten at a restart.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

from storyshelf.errors import StoryshelfError

MOST_KEPT = 20_000
IPV6_SITE = 64  # bits of an address that one person's network has in common


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many failures are free, and after what time one more is."""

    failures: int
    refill_s: float


FOR_ACCOUNT = Allowance(failures=10, refill_s=30)  # 2,900 guesses a day: hopeless from 12 letters
FOR_ADDRESS = Allowance(failures=40, refill_s=5)  # an office, or everybody behind one proxy


class TooManyTriesError(StoryshelfError):
    """The password was wrong too often."""

    http_status = 429

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(
            "The password was wrong too often",
            next_step=f"Try again in {retry_after_s} s, or have a sign-in link made: "
            "`storyshelf user reset EMAIL`.",
        )
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class _Left:
    tries: float
    at_s: float


class Throttle:
    """What is left to each account and each address."""

    def __init__(
        self, for_account: Allowance = FOR_ACCOUNT, for_address: Allowance = FOR_ADDRESS
    ) -> None:
        self._of = {"account": for_account, "address": for_address}
        self._left: dict[tuple[str, str], _Left] = {}

    def take(self, email: str, address: str, now_s: float) -> None:
        """Count a try before it is made; `now_s` only ever grows. Raises TooManyTriesError."""
        keys = self._keys(email, address)
        left = {key: self._now_left(key, now_s) for key in keys}
        waits_s = [(1 - tries) * self._of[key[0]].refill_s for key, tries in left.items()]
        if max(waits_s) > 0:
            raise TooManyTriesError(math.ceil(max(waits_s)))
        self._keep({key: _Left(tries - 1, now_s) for key, tries in left.items()})

    def give_back(self, email: str, address: str, now_s: float) -> None:
        """Take a counted try back: it was right, or never looked at.

        Who has all tries left again is forgotten, so that tries that cost nothing push nobody out.
        """
        for key in self._keys(email, address):
            tries = self._now_left(key, now_s) + 1
            if tries >= self._of[key[0]].failures:
                self._left.pop(key, None)
            else:
                self._keep({key: _Left(tries, now_s)})

    def _keys(self, email: str, address: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return ("account", email.lower()), ("address", network_of(address))

    def _now_left(self, key: tuple[str, str], now_s: float) -> float:
        allowance, kept = self._of[key[0]], self._left.get(key)
        if kept is None:
            return allowance.failures
        return min(allowance.failures, kept.tries + (now_s - kept.at_s) / allowance.refill_s)

    def _keep(self, left: Mapping[tuple[str, str], _Left]) -> None:
        """Remember; whom nobody tried for the longest time is forgotten."""
        for key, value in left.items():
            self._left.pop(key, None)
            self._left[key] = value
        while len(self._left) > MOST_KEPT:
            del self._left[next(iter(self._left))]


def network_of(address: str) -> str:
    """Return what one person has in common of an address; a name stays as it is."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), IPV6_SITE), strict=False))
