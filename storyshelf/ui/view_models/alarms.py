"""What should never be and was: in words, with what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from storyshelf.operations.alarm_store import Alarm
from storyshelf.operations.alarm_words import words_on
from storyshelf.ui.words import When, number_of, when


@dataclass(frozen=True, slots=True)
class AlarmLine:
    """An alarm with what to do about it."""

    name: str
    seen: str  # which one of that name: it may come again before it is dismissed
    what: str
    advice: str
    times: str
    first: When
    last: When
    detail: Mapping[str, str]


def alarm_line(alarm: Alarm, now: datetime) -> AlarmLine:
    """Return an alarm as the page shows it."""
    said = words_on(alarm.name)
    return AlarmLine(
        name=alarm.name,
        seen=alarm.seen,
        what=said.what,
        advice=said.advice,
        times="once" if alarm.count == 1 else number_of(alarm.count, "time"),
        first=when(alarm.first_at, now),
        last=when(alarm.last_at, now),
        detail={name: str(value) for name, value in alarm.detail.items()},
    )
