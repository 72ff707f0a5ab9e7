"""The lease of who leads: taken where it is free or over, renewed and given up by its term.

All SQL on `leaders` is here; only the database's own time is compared.
"""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx

NAME = "storyshelf"  # one lease leads all there is to lead

# The term rises with each take-over, so the row is never deleted: a term must not come again.
TAKE = text("""
INSERT INTO leaders AS l (name, holder, term, expires_at)
VALUES (:name, :holder, 1, statement_timestamp() + make_interval(secs => :lease_s))
ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, term = l.term + 1, expires_at = excluded.expires_at
WHERE l.expires_at <= statement_timestamp()
RETURNING term
""")

RENEW = text("""
UPDATE leaders SET expires_at = statement_timestamp() + make_interval(secs => :lease_s)
WHERE name = :name AND holder = :holder AND term = :term
RETURNING term
""")

RESIGN = text("""
UPDATE leaders SET expires_at = statement_timestamp()
WHERE name = :name AND holder = :holder AND term = :term AND expires_at > statement_timestamp()
""")

LEADING = text("""
SELECT holder, term FROM leaders WHERE name = :name AND expires_at > statement_timestamp()
""")


@dataclass(frozen=True, slots=True)
class Leading:
    """Who leads, and in which term."""

    holder: str
    term: int


async def take_lead(tx: Tx, holder: str, lease_for: timedelta) -> int | None:
    """Take the lease if nobody holds it; return the new term, None if somebody does."""
    values = {"name": NAME, "holder": holder, "lease_s": lease_for.total_seconds()}
    found: int | None = (await tx.execute(TAKE, values)).scalar_one_or_none()
    return found


async def renew_lead(tx: Tx, leading: Leading, lease_for: timedelta) -> bool:
    """Renew the lease of a term; False: another term has begun, and this one is over for good."""
    values = {"name": NAME, "holder": leading.holder, "term": leading.term}
    found = await tx.execute(RENEW, {**values, "lease_s": lease_for.total_seconds()})
    return found.scalar_one_or_none() is not None


async def resign_lead(tx: Tx, leading: Leading) -> None:
    """Let the next one lead at once; nothing happens if another one does already."""
    values = {"name": NAME, "holder": leading.holder, "term": leading.term}
    await tx.execute(RESIGN, values)


async def leading_now(tx: Tx) -> Leading | None:
    """Return who leads by the database's time; None: nobody."""
    row = (await tx.execute(LEADING, {"name": NAME})).one_or_none()
    return None if row is None else Leading(row.holder, row.term)
