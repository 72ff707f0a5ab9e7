"""What a process tells of itself, from its memory: a scrape asks the database nothing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import Metric

from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.exposition import (
    Labelled,
    Took,
    attempts,
    counter,
    counters,
    exposition,
    gauge,
    gauges,
)
from storyshelf.operations.flush import Flush
from storyshelf.queue.tally import Tally


def _no() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Standing:
    """How a process stands with the others, and what it has ended for those that died."""

    is_hearing: Callable[[], bool] = _no  # hints, over its own connection
    is_leading: Callable[[], bool] = _no
    tally: Tally = field(default_factory=Tally)

    def families(self) -> Iterator[Metric]:
        """Yield what every process tells."""
        hears, leads = self.is_hearing(), self.is_leading()
        yield gauge("listener_connected", "Whether this process hears hints", float(hears))
        yield gauge("is_leading", "Whether this process leads", float(leads))
        yield from expiry_families(self.tally)


@dataclass(frozen=True, slots=True)
class ConsumerMetrics:
    """All that a consumer tells of itself."""

    standing: Standing
    accumulator: Accumulator
    flush: Flush
    slots: Mapping[str, int]
    running: Callable[[], int]

    def exposition(self) -> bytes:
        """Return it as text for a scrape."""
        return exposition(self.families())

    def families(self) -> Iterator[Metric]:
        """Yield the families of the consumer."""
        yield from self.standing.families()
        slots: Labelled = {(lane,): places for lane, places in self.slots.items()}
        yield gauges("slots", "Jobs this consumer runs at once, by lane", ["lane"], slots)
        yield gauge("running_jobs", "Jobs this consumer is running", self.running())
        yield from tally_families(self.standing.tally)
        took = [
            Took(kind, outcome, sums.count, sums.wait_ms, sums.run_ms, sums.waits, sums.runs)
            for (kind, outcome), sums in self.accumulator.totals.items()
        ]
        yield from attempts("attempt", "in this consumer", took)
        yield from self._of_flushes()

    def _of_flushes(self) -> Iterator[Metric]:
        yield counter(
            "metrics_flush_failures",
            "Flushes of counted attempts that failed, and were kept for the next",
            self.flush.failures,
        )
        yield counter(
            "metrics_dropped_attempts",
            "Counted attempts that were too old when the database came back",
            self.accumulator.dropped,
        )
        yield gauge(
            "metrics_pending_minutes",
            "Minutes of counted attempts that wait for the next flush",
            self.accumulator.pending_minutes,
        )


def tally_families(tally: Tally) -> Iterator[Metric]:
    """Yield what the queue's core counts."""
    yield counter("claims", "Claims that were answered", tally.claims)
    yield counter("empty_claims", "Claims that brought no job", tally.empty_claims)
    yield counter("claimed_jobs", "Jobs that were claimed", tally.jobs_claimed)
    yield counters(
        "finds",
        "Claims that brought work, after a hint or after a wait",
        ["after"],
        {("hint",): tally.found_by_hint, ("poll",): tally.found_by_poll},
    )
    yield counter("hints_heard", "Hints that other processes sent", tally.hints_heard)
    yield counter("lost_leases", "Leases that were lost while the job ran", tally.leases_lost)
    yield counter(
        "refused_settles", "Settles that came after the lease was lost", tally.settles_refused
    )
    yield counter("settle_batches", "Transactions that settled jobs", tally.settle_batches)
    yield counter("settled_jobs", "Jobs settled in those transactions", tally.settled)


def expiry_families(tally: Tally) -> Iterator[Metric]:
    """Yield what a process counts of leases that ran out, whoever held them."""
    yield counter(
        "reclaimed_jobs", "Jobs taken over from a consumer whose lease ran out", tally.taken_over
    )
    yield counter(
        "expired_at_last_attempt",
        "Jobs that ended with the lease of their last attempt",
        tally.expired_at_last,
    )
