import pytest

from consumer.capture.deadline import Budget, OutOfTimeError
from tests.fakes import FakeClock


async def test_a_call_gets_its_share_and_never_more_than_is_left() -> None:
    clock = FakeClock()
    budget = Budget.of_ms(clock, 12_000)
    assert budget.at_most(10) == 10
    await clock.advance(5)
    assert budget.at_most(10) == 7


async def test_when_nothing_is_left_nothing_is_begun() -> None:
    clock = FakeClock()
    budget = Budget.of_ms(clock, 2_000)
    await clock.advance(2)
    with pytest.raises(OutOfTimeError):
        budget.at_most(10)


@pytest.mark.parametrize(
    ("left_ms", "share"), [(60_000, 20), (15_000, 10), (8_000, 4), (1_000, 0.5)]
)
async def test_a_wait_leaves_time_for_what_follows(left_ms: int, share: float) -> None:
    assert Budget.of_ms(FakeClock(), left_ms).at_most_keeping(20, kept_s=5) == share
