import pytest

from consumer.capture.confirm import Conclusion, Confirmed, Seen, conclude, needs_second
from storyshelf.diff.outcome import Outcome
from storyshelf.ids import BlobKey

A, B = BlobKey("a" * 64), BlobKey("b" * 64)


def concluded(
    first: BlobKey, second: BlobKey, against_baseline: Outcome, between: Outcome
) -> Confirmed:
    return conclude(Seen(first, Outcome.CHANGED), Seen(second, against_baseline), between)


@pytest.mark.parametrize(
    ("outcome", "needed"),
    [
        (Outcome.IDENTICAL, False),
        (Outcome.WITHIN_TOLERANCE, False),
        (Outcome.CHANGED, True),
        (Outcome.SIZE_CHANGED, True),
        (Outcome.UNDECODABLE, True),
    ],
)
def test_only_what_differs_is_looked_at_again(outcome: Outcome, *, needed: bool) -> None:
    assert needs_second(Seen(A, outcome)) is needed


def test_the_same_picture_twice_is_a_change() -> None:
    found = concluded(A, A, Outcome.CHANGED, Outcome.IDENTICAL)
    assert (found.conclusion, found.head, found.frames) == (Conclusion.CHANGED, A, ())


def test_a_picture_that_differs_within_the_tolerance_is_the_same_change() -> None:
    found = concluded(A, B, Outcome.SIZE_CHANGED, Outcome.WITHIN_TOLERANCE)
    assert (found.conclusion, found.head) == (Conclusion.CHANGED, B)


@pytest.mark.parametrize("outcome", [Outcome.IDENTICAL, Outcome.WITHIN_TOLERANCE])
def test_a_fresh_page_that_shows_the_baseline_clears_the_story(outcome: Outcome) -> None:
    found = concluded(A, B, outcome, Outcome.CHANGED)
    assert (found.conclusion, found.head) == (Conclusion.UNCHANGED, B)


def test_two_pictures_that_differ_from_all_are_unstable_and_both_are_kept() -> None:
    found = concluded(A, B, Outcome.CHANGED, Outcome.CHANGED)
    assert (found.conclusion, found.frames) == (Conclusion.UNSTABLE, (A, B))
    assert "does not hold still" in found.reason
