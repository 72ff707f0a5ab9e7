from collections.abc import Sequence

import pytest

from storyshelf.cli.restarts import LONGEST_S, STEADY_S, UNFIT_CODE, UNFIT_LONGEST_S, Restarts


def waits(ends: Sequence[tuple[int, float]]) -> list[float]:
    found, restarts = [], Restarts()
    for exit_code, lived_s in ends:
        restarts = restarts.after(exit_code, lived_s)
        found.append(restarts.wait_s)
    return found


def test_each_early_end_doubles_the_wait() -> None:
    assert waits([(1, 0)] * 4) == [0.5, 1, 2, 4]


@pytest.mark.parametrize(("code", "longest_s"), [(1, LONGEST_S), (UNFIT_CODE, UNFIT_LONGEST_S)])
def test_no_wait_is_longer_than_its_ceiling(code: int, longest_s: float) -> None:
    assert waits([(code, 0)] * 2_000)[-1] == longest_s


def test_who_lived_long_begins_anew() -> None:
    assert waits([(1, 0), (1, 0), (-9, STEADY_S)]) == [0.5, 1, 0.5]


def test_what_needs_mending_is_seldom_tried() -> None:
    assert waits([(UNFIT_CODE, 3), (UNFIT_CODE, 3)]) == [60, 120]
