"""What must never happen and did: counted, with when it began, when it was last, and its detail.

All SQL on `alarms` is here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text

from storyshelf.db.engine import Tx

RAISE = text("""
INSERT INTO alarms AS a (name, count, first_at, last_at, detail)
VALUES (:name, :times, statement_timestamp(), statement_timestamp(), CAST(:detail AS jsonb))
ON CONFLICT (name) DO UPDATE SET
    count = a.count + excluded.count,
    last_at = greatest(a.last_at, excluded.last_at),
    detail = excluded.detail
""")

LOWER = text("DELETE FROM alarms WHERE name = :name")

LOWER_AS_SEEN = text("""
DELETE FROM alarms WHERE name = :name AND count = :count AND last_at = :last_at RETURNING name
""")

ALARMS = text(
    "SELECT name, count, first_at, last_at, detail FROM alarms ORDER BY last_at DESC, name"
)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that must never happen: how often it did, and what was said of the last time."""

    name: str
    count: int
    first_at: datetime
    last_at: datetime
    detail: Mapping[str, Any]

    @property
    def seen(self) -> str:
        """Return what tells it from the same alarm raised once more."""
        return f"{self.count} {self.last_at.isoformat()}"


async def raise_alarm(tx: Tx, name: str, detail: Mapping[str, Any], times: int = 1) -> None:
    """Count the alarm so many times more; its detail becomes the newest.

    The row stays locked until the caller's commit, so this is the last thing in its transaction.
    """
    values = {"name": name, "times": times, "detail": json.dumps(dict(detail), default=str)}
    await tx.execute(RAISE, values)


async def lower_alarm(tx: Tx, name: str) -> None:
    """Forget the alarm: what it was raised for is over, and nobody has to look at it any more."""
    await tx.execute(LOWER, {"name": name})


async def lower_as_seen(tx: Tx, alarm: Alarm) -> bool:
    """Forget the alarm unless it was raised once more, or forgotten; tell whether that was so."""
    values = {"name": alarm.name, "count": alarm.count, "last_at": alarm.last_at}
    return (await tx.execute(LOWER_AS_SEEN, values)).scalar_one_or_none() is not None


async def alarms(tx: Tx) -> tuple[Alarm, ...]:
    """Return the alarms, the latest first."""
    found = await tx.execute(ALARMS)
    return tuple(Alarm(**row) for row in found.mappings())
