import pytest

from bench.split import UnreadableRunError, per_picture_ms, split
from tests.bench.runs import a_run, at, job


def test_every_part_of_the_wall_time_is_where_it_belongs() -> None:
    assert split(a_run()).parts() == pytest.approx(
        {
            "wait": 0.5 + 0.5 + 0.25,
            "plan": 2.0,
            "child": (0.8 + 0.2) / 2,
            "render": (2 + 2 + 2) / 2,
            "compare": 0.6 / 2,
            "store": (0.04 + 0.06 + 0.2 + 0.1) / 2,
            "idle": 6 - (6 + 4) / 2,
            "finalise": 1.0,
            "rest": 10.5 - 9.25,
        }
    )


def test_the_parts_add_up_to_the_wall_time() -> None:
    run = a_run()
    assert split(run).sum_s == pytest.approx(run.wall_s) == 10.5


def test_what_nobody_measured_is_said_as_a_share() -> None:
    assert split(a_run()).unexplained == pytest.approx(1.25 / 10.5)


def test_steps_that_claim_more_than_the_wall_time_are_as_unexplained() -> None:
    too_much = [{"child": 800 + 2 * 2500, "record": 200}, {"child": 200, "record": 100}]
    assert split(a_run(shards_ms=too_much)).unexplained == pytest.approx(1.25 / 10.5)


def test_stories_per_second_count_from_seal_to_verdict() -> None:
    assert a_run(ended_at=at(4)).stories_per_s == 0.5


def test_a_picture_is_told_by_its_steps_and_what_lies_between() -> None:
    assert per_picture_ms(a_run()) == pytest.approx(
        {"open": 400, "render": 500, "settle": 125, "shoot": 75, "between": 900}
    )


def test_a_build_that_was_planned_twice_is_no_measurement() -> None:
    jobs = [*a_run().jobs, job("plan", 1, 2)]
    with pytest.raises(UnreadableRunError, match="2 plan jobs instead of one"):
        split(a_run(jobs=jobs))


def test_a_build_that_captured_nothing_is_no_measurement() -> None:
    jobs = [each for each in a_run().jobs if each.kind != "capture"]
    with pytest.raises(UnreadableRunError, match="captured nothing"):
        split(a_run(jobs=jobs))
