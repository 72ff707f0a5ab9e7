"""A job kind that remembers what the queue told it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from storyshelf.db.engine import Tx
from storyshelf.ids import JobId
from storyshelf.queue.job import EndedJob, Outcome, Payload
from storyshelf.queue.job_kind import Apply, Ended, Handle, JobKind, Settled, Settling, Work
from storyshelf.queue.retry import RetryPolicy


@dataclass(slots=True)
class Told:
    """What `apply` and `ended` were called with, in order."""

    applied: list[tuple[JobId, Any]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    endings: list[tuple[JobId, Outcome, str]] = field(default_factory=list)

    async def apply(self, tx: Tx, settled: Sequence[Settled]) -> None:
        self.batches.append(len(settled))
        self.applied.extend((each.lease.job_id, each.result) for each in settled)

    async def ended(self, tx: Tx, jobs: Sequence[EndedJob], outcome: Outcome, error: str) -> None:
        self.endings.extend((job.job_id, outcome, error) for job in jobs)


async def done_at_once(work: Work, parsed: Any) -> Any:
    return "a result"


def as_it_is(payload: Payload) -> Any:
    return payload


def a_kind(
    told: Told,
    handle: Handle | None = done_at_once,
    *,
    settling: Settling = Settling.ALONE,
    apply: Apply | None = None,
    ended: Ended | None = None,
) -> JobKind:
    return JobKind(
        name="capture",
        lane="capture",
        parse=as_it_is,
        apply=apply or told.apply,
        ended=ended or told.ended,
        retry=RetryPolicy(base=timedelta(seconds=5)),
        settling=settling,
        handle=handle,
    )
