"""What a snapshot hands on, and what may be decided about it."""

import pytest

from storyshelf.ids import SnapshotId
from storyshelf.snapshots.decision import (
    DECIDABLE,
    Decision,
    DecisionMovedError,
    Standing,
    UndecidableError,
    check,
    effective,
)
from storyshelf.snapshots.snapshot import Pixels, Verdict

OWN = SnapshotId(2)
BASE = SnapshotId(1)


def standing(verdict: Verdict, pixels: Pixels = Pixels.DIFFERENT) -> Standing:
    return Standing(OWN, verdict, pixels, BASE)


# Written out on purpose: the table is the promise, in the words of people.
HANDED_ON: dict[Verdict, tuple[SnapshotId | None, SnapshotId | None, SnapshotId | None]] = {
    # undecided, accepted, denied
    Verdict.PLANNED: (BASE, OWN, BASE),
    Verdict.CHANGED: (BASE, OWN, BASE),
    Verdict.ADDED: (BASE, OWN, BASE),
    Verdict.UNSTABLE: (BASE, OWN, BASE),
    Verdict.ERRORED: (BASE, OWN, BASE),
    Verdict.UNCHANGED: (BASE, OWN, BASE),
    Verdict.INHERITED: (BASE, OWN, BASE),
    Verdict.SKIPPED: (BASE, OWN, BASE),
    Verdict.REMOVED: (BASE, None, BASE),
}
DECISIONS = (Decision.NONE, Decision.ACCEPTED, Decision.DENIED)


def test_the_table_is_whole() -> None:
    assert set(HANDED_ON) == set(Verdict)


@pytest.mark.parametrize("verdict", Verdict)
def test_what_differs_hands_on_itself_only_when_accepted(verdict: Verdict) -> None:
    found = tuple(effective(standing(verdict), decision) for decision in DECISIONS)
    assert found == HANDED_ON[verdict]


@pytest.mark.parametrize("decision", Decision)
def test_a_picture_with_the_pixels_of_its_baseline_hands_on_itself(decision: Decision) -> None:
    assert effective(standing(Verdict.UNCHANGED, Pixels.EQUAL), decision) == OWN


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - {Verdict.UNCHANGED, Verdict.REMOVED}))
def test_equal_pixels_count_only_for_what_is_unchanged(verdict: Verdict) -> None:
    assert effective(standing(verdict, Pixels.EQUAL), Decision.NONE) == BASE


def test_an_accepted_removal_hands_on_nothing() -> None:
    assert effective(standing(Verdict.REMOVED), Decision.ACCEPTED) is None


def test_what_was_added_and_not_accepted_hands_on_nothing() -> None:
    added = Standing(OWN, Verdict.ADDED, Pixels.DIFFERENT, baseline_id=None)
    assert effective(added, Decision.DENIED) is None


def test_what_can_be_decided_is_what_a_person_has_to_look_at() -> None:
    assert {Verdict.CHANGED, Verdict.ADDED, Verdict.REMOVED, Verdict.UNSTABLE} == DECIDABLE


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - DECIDABLE))
def test_nothing_else_can_be_decided(verdict: Verdict) -> None:
    with pytest.raises(UndecidableError, match=f"that is {verdict} cannot"):
        check(standing(verdict), seen=Decision.NONE, found=Decision.NONE)


@pytest.mark.parametrize("seen", Decision)
@pytest.mark.parametrize("found", Decision)
def test_a_decision_is_taken_only_on_what_was_seen(seen: Decision, found: Decision) -> None:
    if seen is found:
        check(standing(Verdict.CHANGED), seen=seen, found=found)
        return
    with pytest.raises(DecisionMovedError, match=f"was {seen} when you looked and is {found} now"):
        check(standing(Verdict.CHANGED), seen=seen, found=found)
