import pytest

from storyshelf.queue.cadence import Cadence

CADENCE = Cadence()


@pytest.mark.parametrize(
    ("since_work_s", "wait_s"), [(None, 15.0), (0.0, 2.0), (59.9, 2.0), (60.0, 15.0)]
)
def test_the_queue_is_looked_at_often_while_work_was_seen_lately(
    since_work_s: float | None, wait_s: float
) -> None:
    assert CADENCE.next_wait_s(since_work_s, draw=0.0) == wait_s


@pytest.mark.parametrize("draw", [0.0, 0.3, 0.999])
def test_a_wait_is_stretched_by_a_fifth_at_most_and_never_shortened(draw: float) -> None:
    assert 15.0 <= CADENCE.next_wait_s(None, draw) < 18.0


@pytest.mark.parametrize(("due_s", "wait_s"), [(0.3, 0.3), (-5.0, 0.0), (40.0, 15.0)])
def test_a_wait_ends_when_the_next_job_is_due(due_s: float, wait_s: float) -> None:
    assert CADENCE.next_wait_s(None, 0.0, next_due_s=due_s) == wait_s
