"""The arithmetic of a lease, on the consumer's own monotonic clock."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """How long a lease is, and when its holder renews it, looks at it and stops trusting it.

    The database decides when a lease has run out, on its clock; nothing here is compared with
    that. What the holder knows is that a lease counts from no earlier than the moment it sent the
    request, so that it is safe until that moment plus the length, whatever the two clocks show.
    """

    lease_for: timedelta = timedelta(seconds=60)
    renew_every_s: float = 15.0
    check_every_s: float = 5.0
    margin_s: float = 10.0  # to stop the work in, before the lease can be given away
    answer_within_s: float = 10.0  # of a claim, a renewal or a check; half-open sockets hang

    def __post_init__(self) -> None:
        assert self.margin_s < self.lease_for.total_seconds(), "a lease is trusted for a while"

    @property
    def cancel_within_s(self) -> float:
        """Return how long a kind's `cancel` may take; with what follows, less than the margin."""
        return 0.4 * self.margin_s

    @property
    def stop_within_s(self) -> float:
        """Return how long a cancelled handler is waited for."""
        return 0.5 * self.margin_s

    def trusted_until(self, sent_at: float) -> float:
        """Return the moment at which work must stop unless the lease is renewed."""
        return sent_at + self.lease_for.total_seconds() - self.margin_s
