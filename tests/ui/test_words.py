"""Times, spans and numbers as people say them."""

from datetime import timedelta

import pytest

from storyshelf.builds.build import BuildState
from storyshelf.builds.shard_store import ShardState
from storyshelf.shards.eta import Eta
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.ui import words
from storyshelf.ui.signs import BUILD_SIGNS, DECISION_SIGNS, SHARD_SIGNS, VERDICT_SIGNS
from tests.fakes import EPOCH


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (timedelta(seconds=-3), "just now"),
        (timedelta(seconds=9), "just now"),
        (timedelta(seconds=42), "42 s ago"),
        (timedelta(minutes=5, seconds=50), "5 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=13), "13 days ago"),
        (timedelta(days=31), "1 Dec 2029"),
    ],
)
def test_a_moment_is_told_from_now(past: timedelta, said: str) -> None:
    assert words.ago(EPOCH - past, EPOCH) == said


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (timedelta(seconds=-3), "for 0 s"),
        (timedelta(seconds=9), "for 9 s"),
        (timedelta(minutes=5, seconds=50), "for 5 min"),
    ],
)
def test_what_goes_on_is_told_by_how_long_it_has(past: timedelta, said: str) -> None:
    assert words.lasting(EPOCH - past, EPOCH).words == said


@pytest.mark.parametrize(
    ("off", "said"),
    [
        (timedelta(seconds=-3), "now"),
        (timedelta(seconds=42), "in 42 s"),
        (timedelta(hours=3), "in 3 h"),
    ],
)
def test_what_is_to_come_is_told_by_how_far_off_it_is(off: timedelta, said: str) -> None:
    assert words.due(EPOCH + off, EPOCH).words == said


def test_a_lane_is_told_with_the_start_of_its_fingerprint() -> None:
    assert words.short_lane(f"capture@{'a1' * 32}") == "capture@a1a1a1a1a1a1"
    assert words.short_lane("plan") == "plan"


def test_a_moment_is_for_machines_too() -> None:
    told = words.when(EPOCH, EPOCH)
    assert told.iso == "2030-01-01T12:00:00+00:00"
    assert told.full == "1 January 2030, 12:00:00 UTC"


@pytest.mark.parametrize(
    ("eta", "said"),
    [
        (Eta(1, 30, 40, 70), "about 40 s left (30\u201370 s)"),
        (Eta(1, 100, 180, 300), "about 3 min left (2\u20135 min)"),
        (Eta(1, 110, 118, 124), "about 2 min left"),
        (Eta(1, 0.1, 0.2, 0.3), "about 1 s left"),
    ],
)
def test_what_is_left_has_a_range(eta: Eta, said: str) -> None:
    assert words.left(eta) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.84, "840 ms"),
        (12, "12 s"),
        (12.34, "12.3 s"),
        (125, "2 min 5 s"),
        (119.9, "2 min 0 s"),
        (7380, "2 h 3 min"),
    ],
)
def test_a_span_is_said_in_its_own_unit(seconds: float, said: str) -> None:
    assert words.span(seconds) == said


def test_a_rate_gives_whole_numbers() -> None:
    assert words.rate(2.54) == "2.5 a second"
    assert words.rate(0.2) == "12 a minute"


def test_numbers_agree_with_their_nouns() -> None:
    assert words.number_of(1, "snapshot") == "1 snapshot"
    assert words.number_of(12_000, "snapshot") == "12,000 snapshots"


def test_the_first_line_is_the_first_that_says_something() -> None:
    assert words.first_line("\n  \n Softer buttons\n\nAs agreed.") == "Softer buttons"
    assert words.first_line(None) == ""


def test_every_state_has_its_sign() -> None:
    assert set(BUILD_SIGNS) == set(BuildState)
    assert set(VERDICT_SIGNS) == set(Verdict)
    assert set(SHARD_SIGNS) == set(ShardState)
    assert set(DECISION_SIGNS) == set(Decision)
