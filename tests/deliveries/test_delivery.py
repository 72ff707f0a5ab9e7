"""Whose turn it is to talk of a subject, and what a job does that has none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from storyshelf.deliveries.connection import Connection, ConnectionKind, Hook
from storyshelf.deliveries.delivery import (
    NEXT_STATES,
    DeliveryState,
    Mute,
    Nothing,
    Send,
    Subject,
    Turn,
    Wait,
    turn_of,
)
from storyshelf.ids import ConnectionId, JobId, ProjectId

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SOON = NOW + timedelta(seconds=30)
PAST = NOW - timedelta(seconds=1)
MINE, OTHERS = JobId(1), JobId(2)
CONNECTION = Connection(
    id=ConnectionId(1),
    project_id=ProjectId(1),
    kind=ConnectionKind.WEBHOOK,
    name="hook.test",
    config=Hook("https://hook.test"),
    secret=b"",
    disabled_at=None,
    resting_until=None,
)
SUBJECT = Subject(CONNECTION, {}, version=3, sent_version=2, turn=Turn(None, None), now=NOW)


def test_what_is_not_said_is_said() -> None:
    assert turn_of(SUBJECT, MINE, 3, 1) == Send()


def test_what_is_said_needs_nothing() -> None:
    assert isinstance(turn_of(replace(SUBJECT, sent_version=3), MINE, 3, 1), Nothing)


def test_a_job_of_an_older_wish_says_the_newest() -> None:
    assert turn_of(SUBJECT, MINE, 2, 1) == Send()


def test_a_job_of_an_older_wish_does_not_try_again() -> None:
    assert isinstance(turn_of(SUBJECT, MINE, 2, 2), Nothing)
    assert turn_of(SUBJECT, MINE, 3, 2) == Send()


def test_another_jobs_turn_is_waited_for_until_it_is_over() -> None:
    assert isinstance(turn_of(replace(SUBJECT, turn=Turn(OTHERS, SOON)), MINE, 3, 1), Wait)
    assert turn_of(replace(SUBJECT, turn=Turn(OTHERS, PAST)), MINE, 3, 1) == Send()


def test_a_job_that_comes_back_has_its_turn_still() -> None:
    assert turn_of(replace(SUBJECT, turn=Turn(MINE, SOON)), MINE, 3, 2) == Send()


def test_a_rest_is_kept_to_its_end() -> None:
    resting = replace(SUBJECT, connection=replace(CONNECTION, resting_until=SOON))
    found = turn_of(resting, MINE, 3, 1)
    assert isinstance(found, Wait)
    assert found.after == timedelta(seconds=30)


def test_a_disabled_connection_says_nothing() -> None:
    disabled = replace(SUBJECT, connection=replace(CONNECTION, disabled_at=PAST))
    assert isinstance(turn_of(disabled, MINE, 3, 1), Mute)


def test_every_state_goes_on() -> None:
    assert set(NEXT_STATES) == set(DeliveryState)
    assert all(NEXT_STATES.values())
