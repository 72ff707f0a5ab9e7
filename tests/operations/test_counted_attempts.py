"""What a consumer counts is what the queue wrote of its attempts."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.flush import Flush
from storyshelf.queue.job import Completed, Crashed, Ending, Failed, Outcome, Requeued, Retried
from storyshelf.queue.job_kind import Settling, Work
from tests.queue.builders import a_job, enqueued, table, until
from tests.queue.kinds import Told, a_kind
from tests.queue.test_consumer_side import a_side, at_work

NOW = timedelta(0)
JOBS = 40
ENDINGS: tuple[Ending, ...] = (
    Completed(),
    Retried(NOW, "again"),
    Requeued("not yet"),
    Crashed(NOW, "it died"),
    Failed("no"),
    Failed("what is this", Outcome.DROPPED),
)


async def end_in_turn(work: Work, parsed: Mapping[str, Any]) -> Any:
    """Each job ends in a way of its own at first, and is completed when it comes again."""
    return ENDINGS[parsed["shard"] % len(ENDINGS)] if work.lease.attempt == 1 else Completed()


async def test_all_that_ended_in_a_consumer_is_in_the_figures_by_its_outcome(db: Database) -> None:
    accumulator = Accumulator(SystemClock().monotonic)
    kind = a_kind(Told(), end_in_turn, settling=Settling.TOGETHER)
    side = a_side(db, kind, observe=accumulator.observe)
    flush = Flush(db, accumulator, SystemClock(), nonce=UUID(int=1))
    async with at_work(side):
        await enqueued(db, *(a_job(payload={"shard": number}) for number in range(JOBS)))
        await until(lambda: ended_for_good(accumulator) == JOBS)
        await flush.flush()
    await flush.flush_last()
    counted = Counter[str]()
    for row in await table(db, "job_metrics"):
        counted[row["outcome"]] += row["count"]
    attempts = await table(db, "job_attempts")
    assert counted == Counter(row["outcome"] for row in attempts)
    assert len(counted) == len(ENDINGS)
    first = [row for row in attempts if row["attempt"] == 1]
    waits = sum(sum(row["wait_histogram"]) for row in await table(db, "job_metrics"))
    assert waits == len(first) == JOBS


def ended_for_good(accumulator: Accumulator) -> int:
    last = (Outcome.COMPLETED, Outcome.FAILED, Outcome.DROPPED)
    return sum(sums.count for (_, how), sums in accumulator.totals.items() if how in last)
