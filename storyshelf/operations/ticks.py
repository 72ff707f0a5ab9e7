"""When something that is done every so often is due: ticks stand where all processes see them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Due:
    """The tick that is to be run now, and how many before it nobody ran."""

    tick: datetime
    skipped: int = 0


def tick_at(now: datetime, every: timedelta) -> datetime:
    """Return the latest tick that is not in the future, as every process reckons it."""
    return now - (now - EPOCH) % every


def until_next_s(now: datetime, every: timedelta) -> float:
    """Return the seconds until the next tick: more than none, one interval at most."""
    return (tick_at(now, every) + every - now).total_seconds()


def due(last: datetime | None, now: datetime, every: timedelta) -> Due | None:
    """Return what is to be run now, None if that was done.

    Whoever has fallen behind jumps to the present: the ticks between are skipped, and counted. Of
    a task that never ran none was missed.
    """
    tick = tick_at(now, every)
    if last is None:
        return Due(tick)
    if tick <= last:
        return None
    return Due(tick, skipped=(tick - last) // every - 1)
