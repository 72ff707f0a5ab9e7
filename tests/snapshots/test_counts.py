"""How many snapshots of a build stand where."""

from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict

COUNTS = Counts({Verdict.CHANGED: 2, Verdict.ERRORED: 1}, accepted=1, denied=0, undecided=1)


def test_verdicts_are_summed() -> None:
    assert COUNTS.of(Verdict.CHANGED, Verdict.ERRORED) == 3


def test_a_verdict_that_none_has_counts_nothing() -> None:
    assert COUNTS.of(Verdict.ADDED) == 0


def test_the_total_is_of_all_verdicts() -> None:
    assert COUNTS.total == 3
