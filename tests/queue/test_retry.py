from datetime import timedelta

import pytest

from storyshelf.queue.job import Failed, Retried
from storyshelf.queue.retry import RetryPolicy

POLICY = RetryPolicy(base=timedelta(seconds=5), ceiling=timedelta(seconds=60))


@pytest.mark.parametrize(("charged", "after_s"), [(0, 5), (1, 5), (2, 10), (3, 20), (5, 60)])
def test_the_wait_doubles_with_each_counted_attempt_up_to_the_ceiling(
    charged: int, after_s: int
) -> None:
    ending = POLICY.after_failure(charged, 9, "timeout", lambda: 0.0)
    assert ending == Retried(timedelta(seconds=after_s), "timeout")


@pytest.mark.parametrize("charged", [3, 4])
def test_the_last_allowed_attempt_fails_for_good(charged: int) -> None:
    assert POLICY.after_failure(charged, 3, "timeout", lambda: 0.0) == Failed("timeout")


@pytest.mark.parametrize("draw", [0.0, 0.5, 0.999])
def test_a_wait_is_stretched_by_a_fifth_at_most_and_never_shortened(draw: float) -> None:
    ending = POLICY.after_failure(1, 3, "timeout", lambda: draw)
    assert isinstance(ending, Retried)
    assert timedelta(seconds=5) <= ending.after < timedelta(seconds=6)


@pytest.mark.parametrize(("not_before_s", "after_s"), [(0, 10), (7, 10), (600, 600)])
def test_a_wait_is_no_shorter_than_who_was_asked_says(not_before_s: int, after_s: int) -> None:
    least = timedelta(seconds=not_before_s)
    ending = POLICY.after_failure(2, 9, "rate limit", lambda: 0.0, least)
    assert ending == Retried(timedelta(seconds=after_s), "rate limit")
