"""Which attempt a list says it is; one that was often given back is none past its last."""

import pytest

from storyshelf.ids import JobId
from storyshelf.queue.job import JobState, Priority
from storyshelf.queue.store import UnfinishedJob
from storyshelf.ui.view_models.job_lines import attempts_words
from tests.fakes import EPOCH


def a_job(state: JobState, attempt: int, charged: int) -> UnfinishedJob:
    return UnfinishedJob(
        job_id=JobId(1),
        kind="capture",
        lane="capture",
        priority=Priority.DEFAULT,
        fair_tag=0,
        state=state,
        project_id=None,
        build_id=None,
        attempt=attempt,
        charged=charged,
        max_attempts=3,
        consumer_id=None,
        enqueued_at=EPOCH,
        run_at=EPOCH,
        attempt_started_at=None,
        cancel_requested_at=None,
        release_requested_at=None,
        last_error=None,
    )


@pytest.mark.parametrize(
    ("state", "attempt", "charged", "words"),
    [
        (JobState.QUEUED, 0, 0, "no attempt yet"),
        (JobState.QUEUED, 1, 0, "1 attempt, 0 of 3 charged"),
        (JobState.DEFERRED, 2, 2, "2 attempts, 2 of 3 charged"),
        (JobState.RUNNING, 1, 1, "attempt 1 of 3"),
        (JobState.RUNNING, 2, 2, "attempt 2, 2 of 3 charged"),
        (JobState.RUNNING, 5, 0, "attempt 5, 0 of 3 charged"),
    ],
)
def test_attempts_are_told_with_what_they_cost(
    state: JobState, attempt: int, charged: int, words: str
) -> None:
    assert attempts_words(a_job(state, attempt, charged)) == words
