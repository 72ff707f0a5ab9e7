"""Times, spans and numbers as people say them; all pure, all from a given `now`."""

from dataclasses import dataclass
from datetime import datetime

from storyshelf.shards.eta import Eta

MINUTE_S = 60
MINUTES_AN_HOUR = 60
HOUR_S = 60 * MINUTE_S
DAY_S = 24 * HOUR_S
JUST_NOW_S = 10
COUNTED_DAYS = 14  # after two weeks a date says more than a number of days
MINUTES_FROM_S = 90  # seconds are counted up to here, minutes after it
SHORT_COMMIT = 10
SHORT_ENVIRONMENT = 12  # of a fingerprint: enough to tell two apart


@dataclass(frozen=True, slots=True)
class When:
    """A moment: for machines, in words, and in full for who points at it."""

    iso: str
    words: str
    full: str


def when(moment: datetime, now: datetime) -> When:
    """Return a moment as it is told from now."""
    return When(
        moment.isoformat(), ago(moment, now), f"{moment:%d %B %Y, %H:%M:%S} UTC".lstrip("0")
    )


def when_at_all(moment: datetime | None, now: datetime) -> When | None:
    """Return a moment that may not have come."""
    return None if moment is None else when(moment, now)


def lasting(moment: datetime, now: datetime) -> When:
    """Return a moment by how long it has lasted since."""
    told = when(moment, now)
    return When(told.iso, f"for {_counted(max(0.0, (now - moment).total_seconds()))}", told.full)


def due(moment: datetime, now: datetime) -> When:
    """Return a moment that is to come by how far off it is."""
    told, seconds = when(moment, now), (moment - now).total_seconds()
    return When(told.iso, "now" if seconds < 1 else f"in {_counted(seconds)}", told.full)


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago it was; clocks that differ by a little make nothing later than now."""
    seconds = (now - moment).total_seconds()
    if seconds < JUST_NOW_S:
        return "just now"
    if seconds < DAY_S * COUNTED_DAYS:
        return f"{_counted(seconds)} ago"
    return f"{moment:%d %b %Y}".lstrip("0")


def _counted(seconds: float) -> str:
    if seconds < MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < HOUR_S:
        return f"{seconds // MINUTE_S:.0f} min"
    if seconds < DAY_S:
        return f"{seconds // HOUR_S:.0f} h"
    return number_of(int(seconds // DAY_S), "day")


def span(seconds: float) -> str:
    """Return how long something took."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < MINUTES_FROM_S:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    minutes, over_s = divmod(round(seconds), MINUTE_S)
    if seconds < HOUR_S:
        return f"{minutes} min {over_s} s"
    return f"{minutes // MINUTES_AN_HOUR} h {minutes % MINUTES_AN_HOUR} min"


def left(eta: Eta) -> str:
    """Return what is left with its range, such as `about 40 s left (30-70 s)`."""
    unit, length_s = ("s", 1) if eta.likely_s < MINUTES_FROM_S else ("min", MINUTE_S)
    low, likely, high = (
        max(1, round(value / length_s)) for value in (eta.low_s, eta.likely_s, eta.high_s)
    )
    spread = f" ({low}–{high} {unit})" if low < high else ""  # noqa: RUF001  # a range
    return f"about {likely} {unit} left{spread}"


def rate(per_second: float) -> str:
    """Return a rate in the unit that gives whole numbers."""
    if per_second >= 1:
        return f"{per_second:.1f} a second"
    return f"{per_second * MINUTE_S:.0f} a minute"


def number_of(number: int, noun: str) -> str:
    """Return `1 snapshot`, `3 snapshots`, `12,000 snapshots`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def first_line(text: str | None) -> str:
    """Return the first line of a commit message that says something."""
    lines = (line.strip() for line in (text or "").splitlines())
    return next((line for line in lines if line), "")


def short(commit: str) -> str:
    """Return the start of a hash, or a short name as it is."""
    return commit[:SHORT_COMMIT]


def short_lane(lane: str) -> str:
    """Return a lane with the start of the fingerprint that it may be for."""
    stem, at, environment = lane.partition("@")
    return f"{stem}{at}{environment[:SHORT_ENVIRONMENT]}"


def sentence(text: str) -> str:
    """Return a text that begins large and ends with a stop; nothing stays nothing."""
    text = text.strip()
    if not text:
        return ""
    stopped = text if text.endswith((".", "!", "?")) else f"{text}."
    return stopped[:1].upper() + stopped[1:]
