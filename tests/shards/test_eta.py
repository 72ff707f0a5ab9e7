from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.shards.eta import Eta, estimate

START = datetime(2030, 1, 1, tzinfo=UTC)


def at(*seconds: float) -> list[datetime]:
    return [START + timedelta(seconds=second) for second in seconds]


def now(seconds: float) -> datetime:
    return at(seconds)[0]


def test_a_steady_build_is_measured_by_its_rate() -> None:
    eta = estimate(at(*range(11)), remaining=20, running_slots=2, now=now(10))
    assert eta is not None
    assert eta.rate_per_s == pytest.approx(1.0)
    assert eta.likely_s == pytest.approx(20)
    assert eta.low_s == pytest.approx(18)
    assert eta.high_s == pytest.approx(24)


def test_only_the_last_minute_counts_for_a_fast_build() -> None:
    slow, fast = range(0, 100, 10), range(100, 201)
    eta = estimate(at(*slow, *fast), remaining=10, running_slots=1, now=now(200))
    assert eta is not None
    assert eta.rate_per_s == pytest.approx(1.0)


def test_a_slow_build_is_measured_by_its_last_twenty() -> None:
    eta = estimate(at(*range(0, 1000, 20)), remaining=10, running_slots=1, now=now(980))
    assert eta is not None
    assert eta.rate_per_s == pytest.approx(1 / 20)


def test_a_pause_before_the_last_minute_is_forgotten_once_it_is_busy() -> None:
    eta = estimate(at(0, *range(5010, 5060)), remaining=60, running_slots=1, now=now(5060))
    assert eta is not None
    assert eta.rate_per_s == pytest.approx(50 / 60)


def test_a_build_younger_than_a_minute_is_measured_from_its_first_completion() -> None:
    done_at = at(*(number / 3 for number in range(31)))
    eta = estimate(done_at, remaining=9, running_slots=1, now=now(10))
    assert eta is not None
    assert eta.rate_per_s == pytest.approx(3)


def test_a_stall_lowers_the_rate() -> None:
    moving = estimate(at(*range(11)), 10, 1, now(10))
    stalled = estimate(at(*range(11)), 10, 1, now(50))
    assert moving is not None
    assert stalled is not None
    assert stalled.rate_per_s == pytest.approx(moving.rate_per_s / 5)


def test_uneven_completions_widen_the_range() -> None:
    even = estimate(at(0, 2, 4, 6, 8), 10, 1, now(8))
    uneven = estimate(at(0, 0.1, 0.2, 0.3, 8), 10, 1, now(8))
    assert even is not None
    assert uneven is not None
    assert uneven.low_s < even.low_s
    assert uneven.high_s > even.high_s


def test_more_slots_lengthen_the_worst_case_by_their_last_captures() -> None:
    one, four = (estimate(at(*range(11)), 20, slots, now(10)) for slots in (1, 4))
    assert one is not None
    assert four is not None
    assert four.high_s - one.high_s == pytest.approx(3)


def test_nothing_left_takes_no_time() -> None:
    assert estimate(at(0, 1, 2), 0, 0, now(2)) == Eta(1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("done_at", "remaining", "slots", "moment"),
    [
        ([], 5, 1, 10),
        (at(1), 5, 1, 10),
        (at(1, 1, 1), 5, 1, 1),
        (at(1, 2, 3), 5, 0, 10),
        (at(5, 6), 5, 1, 4),
    ],
)
def test_where_nothing_is_known_nothing_is_promised(
    done_at: list[datetime], remaining: int, slots: int, moment: int
) -> None:
    assert estimate(done_at, remaining, slots, now(moment)) is None


@given(st.lists(st.floats(0, 5000), max_size=80), st.integers(0, 10_000), st.integers(0, 64))
def test_the_range_holds_the_likely_value_and_the_order_does_not_matter(
    seconds: list[float], remaining: int, slots: int
) -> None:
    eta = estimate(at(*seconds), remaining, slots, now(5000))
    assert eta == estimate(at(*reversed(seconds)), remaining, slots, now(5000))
    if eta is not None:
        assert 0 <= eta.low_s <= eta.likely_s <= eta.high_s
        assert eta.rate_per_s >= 0
