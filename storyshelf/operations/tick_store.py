"""What was enqueued on time, one row a tick: the row is what makes it happen once.

All SQL on `ticks` is here.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text

from storyshelf.db.engine import Tx
from storyshelf.operations.leader_store import NAME
from storyshelf.operations.ticks import Due

LOOK = text("""
SELECT statement_timestamp() AS now, (SELECT max(tick) FROM ticks WHERE task = :task) AS last
""")

# A second one who writes the same tick waits for the first to commit, and then writes nothing. A
# leader whose term is over writes nothing either, however late its statement comes.
WRITE = text("""
INSERT INTO ticks (task, tick, skipped, term, ran_at)
SELECT CAST(:task AS text), CAST(:tick AS timestamptz), :skipped, l.term, statement_timestamp()
FROM leaders AS l
WHERE l.name = :name AND l.term = :term
ON CONFLICT (task, tick) DO NOTHING
RETURNING tick
""")

# The latest of each task stays: what was skipped is counted from there.
FORGET = text("""
DELETE FROM ticks AS t
WHERE t.ran_at < statement_timestamp() - make_interval(secs => :kept_s)
    AND EXISTS (SELECT FROM ticks AS later WHERE later.task = t.task AND later.tick > t.tick)
""")


@dataclass(frozen=True, slots=True)
class LastTick:
    """The database's time, and the latest tick of a task that was run."""

    now: datetime
    last: datetime | None


async def look(tx: Tx, task: str) -> LastTick:
    """Return where the task stands."""
    row = (await tx.execute(LOOK, {"task": task})).one()
    return LastTick(row.now, row.last)


async def write_tick(tx: Tx, task: str, due: Due, term: int) -> bool:
    """Write the tick in the name of the term; False: it was run, or another term has begun."""
    values = {"task": task, "tick": due.tick, "skipped": due.skipped, "name": NAME, "term": term}
    return (await tx.execute(WRITE, values)).scalar_one_or_none() is not None


async def forget_ticks(tx: Tx, kept: timedelta) -> None:
    """Remove what was run longer ago, but for the latest of each task."""
    await tx.execute(FORGET, {"kept_s": kept.total_seconds()})
