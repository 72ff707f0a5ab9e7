"""What a process counts of its attempts: by the minute, bounded, and never twice."""

from dataclasses import replace

from storyshelf.operations.accumulator import MINUTES_KEPT, Accumulator, Batch
from storyshelf.operations.histogram import bucket_of
from storyshelf.queue.job import AttemptEnded, Outcome

ENDED = AttemptEnded("capture", "capture@x", Outcome.COMPLETED, 1, waited_ms=40, ran_ms=1_500)


class Hand:
    """An accumulator, and the time that it counts by."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.accumulator = Accumulator(lambda: self.now)

    def observe(self, ended: AttemptEnded = ENDED, *, minutes_later: float = 0) -> None:
        self.now += 60 * minutes_later
        self.accumulator.observe(ended)

    def drained(self) -> Batch:
        return self.accumulator.drain()


def count_of(batch: Batch) -> int:
    return sum(sums.count for sums in batch.values())


def test_attempts_of_a_minute_kind_and_outcome_are_counted_together() -> None:
    hand = Hand()
    hand.observe()
    hand.observe(replace(ENDED, ran_ms=500))
    ((key, sums),) = hand.drained().items()
    assert (key.kind, key.outcome) == ("capture", Outcome.COMPLETED)
    assert (sums.count, sums.attempts, sums.run_ms, sums.wait_ms) == (2, 2, 2_000, 80)


def test_another_minute_kind_or_outcome_is_counted_apart() -> None:
    hand = Hand()
    hand.observe()
    hand.observe(replace(ENDED, kind="plan"))
    hand.observe(replace(ENDED, outcome=Outcome.FAILED))
    hand.observe(minutes_later=1)
    assert [sums.count for sums in hand.drained().values()] == [1, 1, 1, 1]


def test_how_long_a_job_waited_is_counted_with_its_first_attempt_alone() -> None:
    hand = Hand()
    hand.observe(replace(ENDED, attempt=2, waited_ms=90_000))
    (sums,) = hand.drained().values()
    assert (sums.wait_ms, sum(sums.waits)) == (0, 0)
    assert (sums.attempts, sums.runs[bucket_of(1_500)]) == (2, 1)


def test_what_was_drained_is_not_drained_again() -> None:
    hand = Hand()
    hand.observe()
    hand.drained()
    assert hand.drained() == {}
    assert hand.accumulator.pending_minutes == 0


def test_what_comes_back_is_counted_with_what_came_meanwhile() -> None:
    hand = Hand()
    hand.observe()
    batch = hand.drained()
    hand.observe()
    hand.accumulator.merge_back(batch)
    (sums,) = hand.drained().values()
    assert sums.count == 2


def test_a_batch_that_is_out_is_not_changed_by_what_comes_after() -> None:
    hand = Hand()
    hand.observe()
    batch = hand.drained()
    hand.observe()
    assert count_of(batch) == 1


def test_of_a_long_outage_the_newest_hour_stays_and_the_rest_is_counted_as_dropped() -> None:
    hand = Hand()
    for _ in range(MINUTES_KEPT + 5):
        hand.observe(minutes_later=1)
    assert hand.accumulator.pending_minutes == MINUTES_KEPT
    batch = hand.drained()
    assert count_of(batch) == MINUTES_KEPT
    assert max(key.minute for key in batch) == hand.now // 60
    assert hand.accumulator.dropped == 5


def test_what_comes_back_too_late_is_dropped_and_what_is_newer_stays() -> None:
    hand = Hand()
    hand.observe()
    hand.observe(minutes_later=1)
    batch = hand.drained()
    hand.now += 60 * (MINUTES_KEPT - 1)
    hand.accumulator.merge_back(batch)
    assert count_of(hand.drained()) == 1
    assert hand.accumulator.dropped == 1


def test_what_waited_in_silence_for_too_long_is_not_handed_out() -> None:
    hand = Hand()
    hand.observe()
    hand.now += 60 * MINUTES_KEPT
    assert hand.drained() == {}
    assert hand.accumulator.dropped == 1


def test_a_batch_that_comes_back_is_no_second_time_in_the_totals() -> None:
    hand = Hand()
    hand.observe()
    hand.accumulator.merge_back(hand.drained())
    hand.observe()
    assert hand.accumulator.totals["capture", Outcome.COMPLETED].count == 2


def test_totals_are_of_the_whole_run_whatever_was_flushed() -> None:
    hand = Hand()
    hand.observe()
    hand.drained()
    hand.observe(minutes_later=500)
    assert hand.accumulator.totals["capture", Outcome.COMPLETED].count == 2
