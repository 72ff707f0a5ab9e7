from datetime import timedelta

import pytest

from storyshelf.shards.eta import Eta, PastDurations, estimate_from_past
from storyshelf.shards.sampling import CEILING, FLOOR, Standing, may_dispatch, next_sample

MINUTE = timedelta(minutes=1)
WAITING = Standing(remaining=9, running=0, never_started=3)
RUNNING = Standing(remaining=9, running=2, never_started=1)
STUCK = Standing(remaining=9, running=0, never_started=0)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def lasting(likely_s: float) -> Eta:
    return Eta(1.0, likely_s, likely_s, likely_s)


@pytest.mark.parametrize(("left_s", "wait_s"), [(0, 2), (3, 2), (20, 10), (60, 30), (9000, 30)])
def test_a_build_that_is_measured_is_looked_at_after_half_of_what_is_left(
    left_s: float, wait_s: float
) -> None:
    assert next_sample(RUNNING, lasting(left_s), None) == seconds(wait_s)


def test_a_build_that_runs_and_has_completed_nothing_is_looked_at_soon() -> None:
    assert next_sample(RUNNING, None, CEILING) == FLOOR


def test_a_build_that_only_waits_is_looked_at_ever_more_seldom() -> None:
    waits = [None, seconds(2), seconds(4), seconds(8), seconds(16), seconds(30)]
    assert [next_sample(WAITING, None, last) for last in waits] == [
        seconds(each) for each in (2, 4, 8, 16, 30, 30)
    ]


def test_a_build_that_cannot_move_is_looked_at_least() -> None:
    assert next_sample(STUCK, None, FLOOR) == CEILING


def test_lost_shards_are_sent_out_again_when_nothing_is_begun_any_more() -> None:
    assert may_dispatch(WAITING, WAITING, None)


def test_nothing_is_sent_out_again_while_shards_are_begun() -> None:
    assert not may_dispatch(WAITING, Standing(9, 0, never_started=4), None)


def test_nothing_is_sent_out_again_upon_one_sample() -> None:
    assert not may_dispatch(WAITING, None, None)


@pytest.mark.parametrize(("ago_s", "may"), [(0, False), (59, False), (60, True)])
def test_shards_are_sent_out_again_once_a_minute(ago_s: float, may: bool) -> None:  # noqa: FBT001
    assert may_dispatch(WAITING, WAITING, seconds(ago_s)) == may


def test_before_anything_completes_the_past_is_believed() -> None:
    eta = estimate_from_past(PastDurations(500, 1000, 2000), remaining=10, running_slots=2)
    assert eta == Eta(rate_per_s=2.0, low_s=2.5, likely_s=5.0, high_s=10.0)


def test_a_few_slow_stories_do_not_turn_the_range_over() -> None:
    eta = estimate_from_past(PastDurations(500, 5000, 800), remaining=1, running_slots=1)
    assert eta is not None
    assert eta.low_s <= eta.likely_s <= eta.high_s


@pytest.mark.parametrize(("slots", "mean"), [(0, 1000), (2, 0)])
def test_the_past_says_nothing_where_nobody_works_or_nothing_is_known(
    slots: int, mean: float
) -> None:
    assert estimate_from_past(PastDurations(mean, mean, mean), 10, slots) is None
