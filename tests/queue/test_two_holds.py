"""A process that holds one job under an old and a new token settles the new one alone."""

import asyncio
from typing import Any

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.job import Completed, Lease, Outcome
from storyshelf.queue.job_kind import JobKinds, Settling
from storyshelf.queue.lease_keeper import Hold
from storyshelf.queue.lease_times import LeaseTimes
from storyshelf.queue.settler import Attempted, Settler
from tests.queue.attempts import settled
from tests.queue.builders import ANN, a_job, claimed, enqueued, let_leases_run_out
from tests.queue.kinds import Told, a_kind


async def test_a_batch_with_both_tokens_of_a_job_applies_the_new_ones_result_alone(
    db: Database,
) -> None:
    told = Told()
    kind = a_kind(told, settling=Settling.TOGETHER)
    settler = Settler(db, JobKinds([kind]), SystemClock(), draw=lambda: 0.0)
    await enqueued(db, a_job(lane="capture@first"), a_job(lane="capture@x"))
    (first,) = await claimed(db, free={"capture@first": 1})
    (old,) = await claimed(db, ANN, free={"capture@x": 1})
    await let_leases_run_out(db)
    (new,) = await claimed(db, ANN, free={"capture@x": 1})

    def attempted(lease: Lease, result: Any) -> Attempted:
        hold = Hold(lease, SystemClock().monotonic(), LeaseTimes())
        return Attempted(hold, kind, Completed(result), None)

    ended = await asyncio.gather(  # the first is alone, and the others gather behind it
        settled(settler, attempted(first, "first")),
        settled(settler, attempted(new, "new")),
        settled(settler, attempted(old, "old")),
    )
    assert list(ended) == [Outcome.COMPLETED, Outcome.COMPLETED, None]
    assert (new.job_id, "new") in told.applied
    assert (old.job_id, "old") not in told.applied
