from datetime import timedelta

import pytest

from storyshelf.queue.lease_times import LeaseTimes


def test_a_lease_is_trusted_from_the_request_until_the_margin_before_its_end() -> None:
    times = LeaseTimes(lease_for=timedelta(seconds=60), margin_s=10)
    assert times.trusted_until(sent_at=100.0) == 150.0


@pytest.mark.parametrize("margin_s", [0.5, 10.0])
def test_work_can_be_stopped_within_the_margin(margin_s: float) -> None:
    times = LeaseTimes(margin_s=margin_s)
    assert times.cancel_within_s + times.stop_within_s < margin_s


def test_a_margin_as_long_as_the_lease_is_refused() -> None:
    with pytest.raises(AssertionError):
        LeaseTimes(lease_for=timedelta(seconds=10), margin_s=10)


def test_one_renewal_may_fail_before_the_trust_ends() -> None:
    times = LeaseTimes()
    assert 2 * (times.renew_every_s + times.check_every_s) < times.trusted_until(0.0)
