"""How a build's state is said: the check, one line with the numbers, never more than fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.builds.build import UNENDED, BuildState
from storyshelf.deliveries.message import (
    CHECKS,
    MAX_DESCRIPTION,
    WORDS,
    BuildFacts,
    Check,
    context_of,
    describe,
    shortened,
    storybook_check,
)
from storyshelf.deliveries.wishes import STATUSES
from storyshelf.snapshots.counts import Counts
from tests.deliveries.facts import counts, facts

ODD = "a\x00b\x1b[31mred\u202eevil\u2028line\nnext\ttab"


def test_every_state_of_a_build_is_said() -> None:
    states = {state.value for state in BuildState}
    assert set(CHECKS) == set(WORDS) == set(STATUSES) == states


def test_a_check_works_for_as_long_as_the_build_does() -> None:
    working = {state for state, check in CHECKS.items() if check is Check.WORKING}
    assert working == {state.value for state in UNENDED}


def test_what_nobody_accepted_is_never_a_success() -> None:
    successes = {state for state, check in CHECKS.items() if check is Check.SUCCESS}
    assert successes == {"passed", "accepted", "skipped"}


@pytest.mark.parametrize(
    ("state", "counted", "said"),
    [
        ("capturing", counts(planned=44), "44 snapshots to capture and compare"),
        ("passed", counts(unchanged=43), "43 snapshots, nothing changed"),
        ("passed", counts(unchanged=1), "1 snapshot, nothing changed"),
        (
            "pending",
            counts(undecided=4, changed=3, added=2, unchanged=9),
            "4 to review of 5 changes: 3 changed, 2 added",
        ),
        ("accepted", counts(accepted=2, changed=2), "2 snapshots accepted"),
        ("denied", counts(denied=1, accepted=2, changed=3), "1 change denied, 2 accepted"),
        ("broken", counts(errored=2), "2 snapshots could not be rendered"),
        (
            "broken",
            counts(errored=1, undecided=3, changed=3),
            "1 snapshot could not be rendered; 3 to review",
        ),
    ],
)
def test_a_description_has_the_numbers(state: str, counted: Counts, said: str) -> None:
    assert describe(facts(state, counts=counted)) == said


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("failed", "The build failed: no browser"),
        ("cancelled", "Cancelled: no browser"),
        ("skipped", "Skipped: no browser"),
        ("incomplete", "The build is incomplete: no browser"),
    ],
)
def test_a_description_has_the_reason(state: str, said: str) -> None:
    assert describe(facts(state, reason="no browser")) == said


def test_a_rule_that_accepted_is_named() -> None:
    accepted = facts("accepted", rule="first build", counts=counts(accepted=3, added=3))
    assert describe(accepted) == "3 snapshots accepted by the rule `first build`"


@given(st.sampled_from(sorted(WORDS)), st.text(max_size=2_000))
def test_a_description_fits_in_one_line(state: str, reason: str) -> None:
    said = describe(facts(state, reason=reason, counts=counts(changed=10**9, undecided=10**9)))
    assert 0 < len(said) <= MAX_DESCRIPTION
    assert said.isprintable()


def test_what_moves_the_cursor_or_turns_the_text_is_left_out() -> None:
    assert shortened(ODD, 100) == "a b [31mred evil line next tab"


def test_a_long_text_ends_with_what_says_so() -> None:
    assert shortened("x" * 200, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("build", "check"),
    [
        (facts("uploading", is_sealed=False), Check.WORKING),
        (facts("capturing"), Check.SUCCESS),
        (facts("denied"), Check.SUCCESS),
        (facts("cancelled"), Check.SUCCESS),
        (facts("cancelled", is_sealed=False), Check.CANCELLED),
        (facts("skipped", is_sealed=False), Check.SUCCESS),
    ],
)
def test_the_storybook_is_published_whatever_becomes_of_the_pictures(
    build: BuildFacts, check: Check
) -> None:
    assert storybook_check(build)[0] is check


def test_a_context_names_its_project_only_where_it_must() -> None:
    assert context_of("UI Tests", None) == "UI Tests"
    assert context_of("UI Tests", "shop") == "UI Tests (shop)"
