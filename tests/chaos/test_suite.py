"""What the run ends with: nought everywhere, or 1."""

from bench.chaos.ledger import Figures
from bench.chaos.suite import SCENARIOS, Ended, report, shown

CLEAN = Ended("theft", Figures(), 1.0)


def test_a_run_in_which_all_is_nought_is_good() -> None:
    told = report([CLEAN, CLEAN], {})
    assert told.exit_code == 0
    assert [told.figures[name] for name in ("lost", "doubled", "stale_accepted")] == [0, 0, 0]


def test_what_was_lost_anywhere_is_in_the_sum_and_ends_the_run_with_1() -> None:
    told = report([CLEAN, Ended("poison", Figures(lost=2), 1.0)], {})
    assert told.exit_code == 1
    assert told.figures["lost"] == 2
    assert told.figures["scenarios"]["poison"]["lost"] == 2


def test_what_had_to_hold_beside_the_ledger_ends_it_with_1_too() -> None:
    told = report([Ended("poison", Figures(), 1.0, unmet=("three attempts",))], {})
    assert told.exit_code == 1
    assert told.figures["unmet"] == ["poison: three attempts"]


def test_the_table_shows_each_scenario() -> None:
    lines = shown([Ended(name, Figures(), 1.0) for name in SCENARIOS]).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SCENARIOS)
