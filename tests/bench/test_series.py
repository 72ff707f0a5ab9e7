import pytest

from bench.series import Point, each_minute, last_half, rate_per_s, rises, slope_per_s


def points(*values: float) -> list[Point]:
    return [Point(10.0 * at, value) for at, value in enumerate(values)]


def test_the_last_half_is_of_the_time_and_not_of_the_looks() -> None:
    looks = [Point(0, 1), Point(1, 2), Point(2, 3), Point(3, 4), Point(100, 5)]
    assert [each.value for each in last_half(looks)] == [5]


def test_a_line_has_its_slope() -> None:
    assert slope_per_s(points(1, 2, 3, 4)) == pytest.approx(0.1)


def test_one_look_has_no_slope() -> None:
    assert slope_per_s(points(7)) == 0


def test_what_goes_up_and_comes_down_does_not_rise() -> None:
    assert not rises(points(*(10, 90) * 8), least=1)


def test_what_goes_up_a_little_all_the_time_rises() -> None:
    assert rises(points(*(100.0 + 3 * at for at in range(16))), least=1)


def test_what_rose_at_first_and_then_stood_still_does_not_rise() -> None:
    assert not rises(points(*range(16), *[16.0] * 16), least=1)


def test_less_than_the_least_is_no_rise() -> None:
    assert not rises(points(*([1.0] * 12), *([2.0] * 4)), least=1)


def test_a_rate_is_taken_between_the_looks_next_to_its_ends() -> None:
    totals = [Point(0, 0), Point(9.9, 100), Point(20.1, 300), Point(40, 320)]
    assert rate_per_s(totals, 10, 20) == pytest.approx(200 / 10.2)


def test_a_series_is_told_by_the_last_look_of_each_minute() -> None:
    looks = [Point(0, 1), Point(50, 2), Point(61, 3), Point(119, 4), Point(185, 5)]
    assert each_minute(looks) == [2, 4, 5]
