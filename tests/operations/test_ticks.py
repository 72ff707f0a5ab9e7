"""Ticks stand on the clock, not on when a process began; who fell behind jumps to the present."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.operations.ticks import Due, due, tick_at, until_next_s

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
intervals = st.timedeltas(timedelta(seconds=1), timedelta(days=1))


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (None, NOON + timedelta(minutes=7), Due(NOON)),
        (NOON, NOON + timedelta(minutes=7), None),
        (NOON - HOUR, NOON, Due(NOON)),
        (NOON - HOUR, NOON - timedelta(seconds=1), None),
        (NOON - 3 * HOUR, NOON + timedelta(minutes=7), Due(NOON, skipped=2)),
        (NOON + HOUR, NOON, None),
    ],
    ids=["never ran", "was run", "just now", "not yet", "fell behind", "the clock was set back"],
)
def test_what_is_due_each_hour(last: datetime | None, now: datetime, expected: Due | None) -> None:
    assert due(last, now, HOUR) == expected


def test_ten_thousand_missed_minutes_are_one_tick() -> None:
    last = NOON - 10_001 * MINUTE
    assert due(last, NOON, MINUTE) == Due(NOON, skipped=10_000)


def test_the_next_tick_is_a_whole_interval_away_when_one_has_just_been() -> None:
    assert until_next_s(NOON, HOUR) == 3600
    assert until_next_s(NOON + timedelta(minutes=59), HOUR) == 60


@given(times, intervals)
def test_a_tick_is_never_in_the_future_and_never_an_interval_old(
    now: datetime, every: timedelta
) -> None:
    assert now - every < tick_at(now, every) <= now
    assert 0 < until_next_s(now, every) <= every.total_seconds()


@given(times, intervals, st.integers(1, 10_000))
def test_every_tick_is_either_run_or_counted_as_skipped(
    last: datetime, every: timedelta, passed: int
) -> None:
    last = tick_at(last, every)
    found = due(last, last + passed * every, every)
    assert found is not None
    assert found.skipped + 1 == passed
