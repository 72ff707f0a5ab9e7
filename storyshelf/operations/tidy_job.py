"""The `tidy` job: tidying up as work of the queue, which consumers do once an hour."""

from collections.abc import Sequence
from datetime import timedelta

from storyshelf.db.engine import Tx
from storyshelf.queue.job import EndedJob, NewJob, Outcome, Payload, Priority
from storyshelf.queue.job_kind import JobKind
from storyshelf.queue.retry import RetryPolicy

TIDY = "tidy"
MAINTAIN_LANE = "maintain"
RETRY = RetryPolicy(base=timedelta(minutes=1), ceiling=timedelta(minutes=10))


def tidy_job() -> NewJob:
    """Return the job; while one waits or runs, another one is not enqueued."""
    return NewJob(
        kind=TIDY,
        lane=MAINTAIN_LANE,
        payload={},
        priority=Priority.MAINTENANCE,
        dedupe_key=TIDY,
    )


def tidy_kind() -> JobKind:
    """Return the kind as server and consumers register it, without its handler.

    Its job waits for a consumer however long it takes: there is never more than one.
    """
    return JobKind(
        name=TIDY,
        lane=MAINTAIN_LANE,
        parse=_parse,
        apply=None,  # each step was committed when it was made
        ended=_next_hour,
        retry=RETRY,
        is_patient=True,
    )


def _parse(_payload: Payload) -> None:
    """Read nothing: all that is tidied is known without it."""


async def _next_hour(_tx: Tx, _jobs: Sequence[EndedJob], _outcome: Outcome, _error: str) -> None:
    """Leave what was not done to the next one."""
