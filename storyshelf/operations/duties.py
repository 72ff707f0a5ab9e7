"""What the leader does, and how often; each is a pass over the database, or enqueues a job."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from storyshelf.db.engine import Database, Tx
from storyshelf.operations import store
from storyshelf.operations.audit_pass import Audit
from storyshelf.operations.periodic import Enqueues, Pass, Task
from storyshelf.operations.progress_pass import progress
from storyshelf.operations.queue_upkeep import forget_history, look_after_queue
from storyshelf.operations.rollup import roll_up
from storyshelf.operations.samples import sample_lanes
from storyshelf.operations.tidy_job import tidy_job

PROGRESS_EVERY = timedelta(seconds=2)
ROLL_UP_EVERY = timedelta(minutes=5)  # of hours: the last minutes are read as they are
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long what the queue did is kept: its ended jobs, and samples of its lanes."""

    jobs: timedelta
    samples: timedelta


class WhileCapturing:
    """Samples builds while some are captured; whether that is so comes with each renewed lease."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._is_busy = False
        self._was_busy = False

    async def look(self, tx: Tx) -> None:
        """Look whether a build is captured."""
        self._is_busy = await store.is_any_captured(tx)

    async def run(self) -> None:
        """Sample what is due, and once more at the end, for what has ended."""
        if self._is_busy or self._was_busy:
            await progress(self._db)
        self._was_busy = self._is_busy


def duties(db: Database, captures: WhileCapturing, keeping: Keeping) -> Sequence[Task]:
    """Return everything that one process does for all."""

    async def sample() -> None:
        await sample_lanes(db, keeping.samples)

    async def forget() -> None:
        await forget_history(db, keeping.jobs)

    return (
        Pass("progress", PROGRESS_EVERY, captures.run),
        Pass("audit", MINUTE, Audit(db).run_once),
        Pass("lanes", MINUTE, sample),
        Pass("queue", MINUTE, lambda: look_after_queue(db)),
        Pass("metrics", ROLL_UP_EVERY, lambda: roll_up(db)),
        Pass("history", HOUR, forget),
        Enqueues("tidy", HOUR, lambda _tick: [tidy_job()]),
    )
