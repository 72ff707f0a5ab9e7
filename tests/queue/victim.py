"""A consumer process that a test kills at a named place: `python -m tests.queue.victim URL PLACE`.

The kill is SIGKILL by its own hand, so that nothing of the process can tidy up.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database, Tx
from storyshelf.ids import ConsumerId
from storyshelf.queue.consumer_side import ConsumerOptions, ConsumerSide
from storyshelf.queue.failpoint import Failpoint
from storyshelf.queue.job_kind import JobKind, JobKinds, Settled, Work
from tests.queue.kinds import Told, a_kind


def die_at(place: str) -> Failpoint:
    def failpoint(reached: str) -> None:
        if reached == place:
            os.kill(os.getpid(), signal.SIGKILL)

    return failpoint


async def record_and_return(work: Work, parsed: Any) -> Any:
    async def write(tx: Tx) -> None:
        await note(tx, "progress")

    await work.record(write)
    return parsed


async def apply(tx: Tx, settled: Sequence[Settled]) -> None:
    await note(tx, "effect")


async def note(tx: Tx, what: str) -> None:
    await tx.execute(text("INSERT INTO notes (what) VALUES (:what)"), {"what": what})


def the_kind() -> JobKind:
    return a_kind(Told(), record_and_return, apply=apply)


async def consume(url: str, place: str) -> None:
    db = Database(url)
    options = ConsumerOptions(
        consumer_id=ConsumerId("victim"),
        places={"capture@x": 1},
        clock=SystemClock(),
        draw=lambda: 0.0,
        failpoint=die_at(place),
    )
    await ConsumerSide(db, JobKinds([the_kind()]), options).run_forever()


if __name__ == "__main__":
    asyncio.run(consume(sys.argv[1], sys.argv[2]))
