"""A delivery: what one subject is to say, and whose turn it is to say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from storyshelf.deliveries.connection import Connection, ConnectionKind
from storyshelf.ids import ConnectionId, DeliveryId, JobId


class DeliveryState(StrEnum):
    """Where the newest wish of a subject stands."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"


# A subject's newest wish; a new one begins as waiting, whatever became of the one before.
NEXT_STATES: dict[DeliveryState, frozenset[DeliveryState]] = {
    DeliveryState.WAITING: frozenset({DeliveryState.SENT, DeliveryState.FAILED}),
    DeliveryState.SENT: frozenset({DeliveryState.WAITING}),
    DeliveryState.FAILED: frozenset({DeliveryState.WAITING}),
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """A subject, as a page shows it."""

    id: DeliveryId
    connection_id: ConnectionId
    connection_name: str
    kind: ConnectionKind
    subject: str
    state: DeliveryState
    error: str | None
    build_number: int | None
    changed_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Which job may talk of a subject, until a database time; nobody's where both are None."""

    job_id: JobId | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject as a job finds it, at the database's time `now`."""

    connection: Connection
    wanted: Mapping[str, Any]
    version: int
    sent_version: int
    turn: Turn
    now: datetime


@dataclass(frozen=True, slots=True)
class Send:
    """Say it now."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to do, for the reason given."""

    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """It is not this job's turn yet."""

    after: timedelta
    why: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing may be said."""

    why: str


LOOK_AGAIN = timedelta(seconds=2)  # while another job talks, which takes less as a rule


def turn_of(  # noqa: PLR0911  # one line a rule
    subject: Subject, job_id: JobId, version: int, attempt: int
) -> Send | Nothing | Wait | Mute:
    """Decide what a job, enqueued for a version, does with its subject.

    It says whatever is wished by now. What it cannot say at once is left to the job of the newer
    wish, which there is for each: else an outage would gather jobs that all say the same.
    """
    if subject.sent_version >= subject.version:
        return Nothing("it is said already")
    if version < subject.version and attempt > 1:
        return Nothing("a newer wish took its place")
    if subject.connection.mute is not None:
        return Mute(subject.connection.mute)
    until = subject.turn.until
    if until is not None and until > subject.now and subject.turn.job_id != job_id:
        return Wait(LOOK_AGAIN, "another job is talking of it")
    resting = subject.connection.resting_until
    if resting is not None and resting > subject.now:
        return Wait(resting - subject.now, "the other end asked to be left alone for a while")
    return Send()
