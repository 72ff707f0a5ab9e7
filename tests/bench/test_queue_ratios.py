import pytest

from bench.queue_ratios import RATIOS, Ratio, Rounds, ratios_of, wakes_ms

KEYS = (
    "drain10_vs_pgqueuer drain50_vs_pgqueuer drain10_vs_procrastinate enqueue1_vs_pgqueuer"
    " wake_p50_vs_pgqueuer claim_vs_pgqueuer claim_full_vs_young tx_vs_pgqueuer wal_vs_pgqueuer"
    " idle_tx_vs_pgqueuer"
)


def rounds_of(**sides: list[dict[str, float]]) -> Rounds:
    rounds = Rounds()
    for side, readings in sides.items():
        for number, each in enumerate(readings):
            rounds.note(side, number, each)
    return rounds


def test_a_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    rounds = rounds_of(
        ours=[{"x": 10.0}, {"x": 100.0}, {"x": 30.0}],
        theirs=[{"x": 5.0}, {"x": 10.0}, {"x": 10.0}],
    )
    assert rounds.ratio("x", "ours", "theirs") == 3


def test_a_load_that_slows_one_round_for_both_moves_no_ratio() -> None:
    rounds = rounds_of(ours=[{"x": 40.0}, {"x": 4.0}], theirs=[{"x": 10.0}, {"x": 1.0}])
    assert rounds.ratio("x", "ours", "theirs") == 4


def test_a_round_that_only_one_of_two_was_measured_in_counts_for_nothing() -> None:
    rounds = rounds_of(ours=[{"x": 2.0}, {"x": 9.0}], theirs=[{"x": 1.0}])
    assert rounds.ratio("x", "ours", "theirs") == 2


def test_what_nobody_measured_has_no_ratio() -> None:
    assert rounds_of(ours=[{"x": 1.0}]).ratio("x", "ours", "theirs") is None


def test_readings_of_one_round_that_come_one_after_the_other_stand_together() -> None:
    rounds = rounds_of(ours=[{"x": 1.0}])
    rounds.note("ours", 0, {"y": 2.0})
    assert rounds.medians("ours") == {"x": 1.0, "y": 2.0}


def test_the_keys_are_those_that_are_looked_for() -> None:
    assert " ".join(each.key for each in RATIOS) == KEYS


def test_a_full_tables_claim_is_compared_with_our_own_young_ones() -> None:
    rounds = rounds_of(ours=[{"claim_ms": 2.0}], ours_full=[{"claim_ms": 3.0}])
    assert ratios_of(rounds) == {"claim_full_vs_young": 1.5}


@pytest.mark.parametrize(
    ("ratio", "found", "verdict"),
    [
        (Ratio("k", "m", "t", at_least=4), 4.0, "met"),
        (Ratio("k", "m", "t", at_least=4), 3.99, "MISSED"),
        (Ratio("k", "m", "t", at_most=0.5), 0.5, "met"),
        (Ratio("k", "m", "t", at_most=0.5), 0.51, "MISSED"),
    ],
)
def test_a_ratio_is_held_to_its_bound(ratio: Ratio, found: float, verdict: str) -> None:
    assert ratio.verdict(found) == verdict


def test_a_wake_up_counts_from_the_begin_of_the_enqueue() -> None:
    waked = wakes_ms(moments=[[1.0, 1.002], [2.0, 2.004]], started=[1.005, 2.009])
    assert waked["wake_p50_ms"] == pytest.approx(7)
    assert waked["wake_after_return_p50_ms"] == pytest.approx(4)


def test_a_wake_up_that_never_came_is_not_left_out_of_the_figures() -> None:
    with pytest.raises(AssertionError, match="2 sent, 1 started"):
        wakes_ms(moments=[[1.0, 1.1], [2.0, 2.1]], started=[1.2])
