"""What one process counts of its queue work since it began, for `/metrics`."""

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Counters that only rise."""

    claims: int = 0
    empty_claims: int = 0
    jobs_claimed: int = 0
    taken_over: int = 0  # from a consumer whose lease ran out
    found_by_hint: int = 0  # claims that brought work after a hint
    found_by_poll: int = 0  # and those that did after a wait: a hint may have been lost
    hints_heard: int = 0
    leases_lost: int = 0
    settles_refused: int = 0  # the lease was somebody else's by then
    settle_batches: int = 0
    settled: int = 0
    expired_at_last: int = 0  # jobs that ended because their last attempt was lost
