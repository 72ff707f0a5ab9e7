"""How a finished build's counts become its state."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.builds.build import BuildState
from storyshelf.builds.reduce import reduce
from storyshelf.snapshots.counts import Counts
from storyshelf.snapshots.snapshot import Verdict

# From best to worst: what is added to a build can only lead further down.
RANK = (
    BuildState.PASSED,
    BuildState.ACCEPTED,
    BuildState.DENIED,
    BuildState.PENDING,
    BuildState.BROKEN,
    BuildState.FAILED,
)


def counted(*, accepted: int = 0, denied: int = 0, undecided: int = 0, **verdicts: int) -> Counts:
    named = {Verdict(name): number for name, number in verdicts.items()}
    return Counts(named, accepted, denied, undecided)


@pytest.mark.parametrize(
    ("counts", "failed_shards", "state"),
    [
        (counted(), 0, BuildState.PASSED),
        (counted(unchanged=3), 0, BuildState.PASSED),
        (counted(skipped=3), 0, BuildState.PASSED),
        (counted(inherited=3), 0, BuildState.PASSED),
        (counted(added=1, accepted=1), 0, BuildState.ACCEPTED),
        (counted(changed=2, accepted=1, denied=1), 0, BuildState.DENIED),
        (counted(changed=3, accepted=1, denied=1, undecided=1), 0, BuildState.PENDING),
        (counted(removed=1, undecided=1), 0, BuildState.PENDING),
        (counted(unstable=1, undecided=1), 0, BuildState.PENDING),
        (counted(errored=1), 0, BuildState.BROKEN),
        (counted(errored=1, changed=3, accepted=1, denied=1, undecided=1), 0, BuildState.BROKEN),
        (counted(planned=1, errored=1), 0, BuildState.FAILED),
        (counted(unchanged=3), 1, BuildState.FAILED),
    ],
)
def test_the_first_rule_that_holds_gives_the_state(
    counts: Counts, failed_shards: int, state: BuildState
) -> None:
    assert reduce(counts, failed_shards).state is state


@pytest.mark.parametrize(
    ("counts", "failed_shards", "reason"),
    [
        (counted(unchanged=1), 2, "2 of its shards failed or were cancelled"),
        (counted(planned=4), 0, "4 of its snapshots were never captured"),
        (counted(errored=3), 0, "3 of its stories could not be rendered"),
    ],
)
def test_a_build_that_did_not_end_well_says_why(
    counts: Counts, failed_shards: int, reason: str
) -> None:
    assert reduce(counts, failed_shards).reason == reason


few = st.integers(min_value=0, max_value=3)
any_counts = st.builds(
    Counts,
    verdicts=st.dictionaries(st.sampled_from(Verdict), few),
    accepted=few,
    denied=few,
    undecided=few,
)


def rank(counts: Counts, failed_shards: int) -> int:
    return RANK.index(reduce(counts, failed_shards).state)


def with_one_more(counts: Counts, verdict: Verdict) -> Counts:
    more = counts.verdicts.get(verdict, 0) + 1
    return replace(counts, verdicts={**counts.verdicts, verdict: more})


@given(any_counts, few)
def test_another_failed_shard_never_improves_a_build(counts: Counts, failed: int) -> None:
    assert rank(counts, failed + 1) >= rank(counts, failed)


@given(any_counts, few)
def test_another_errored_story_never_improves_a_build(counts: Counts, failed: int) -> None:
    assert rank(with_one_more(counts, Verdict.ERRORED), failed) >= rank(counts, failed)


@given(any_counts, few)
def test_another_undecided_change_never_improves_a_build(counts: Counts, failed: int) -> None:
    more = replace(with_one_more(counts, Verdict.CHANGED), undecided=counts.undecided + 1)
    assert rank(more, failed) >= rank(counts, failed)


@given(any_counts, few)
def test_another_unchanged_story_makes_no_difference(counts: Counts, failed: int) -> None:
    assert reduce(with_one_more(counts, Verdict.UNCHANGED), failed) == reduce(counts, failed)


@given(any_counts)
def test_a_build_with_an_errored_story_is_never_passed_or_accepted(counts: Counts) -> None:
    state = reduce(with_one_more(counts, Verdict.ERRORED), 0).state
    assert state in {BuildState.BROKEN, BuildState.FAILED}
