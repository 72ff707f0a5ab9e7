"""A consumer's log is read however the consumer ended."""

from pathlib import Path

from bench.chaos.diary import Diary
from bench.chaos.ledger import Attempt
from storyshelf.ids import JobId

LINES = (
    '{"event": "chaos.ran", "job": 3, "timestamp": "2030-01-01T12:00:00Z"}',
    "Traceback (most recent call last):",
    '{"event": "chaos.answered", "job": 3, "attempt": 2, "outcome": "completed"}',
    '{"event": "chaos.answered", "job": 4, "att',  # cut off by a kill
)


def test_what_ran_and_what_it_believes_is_read_around_torn_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("\n".join(LINES))
    diary = Diary(path)
    assert diary.executed == {3}
    assert diary.believed == [Attempt(JobId(3), 2, "completed")]
    assert [at.hour for at in diary.times("chaos.ran")] == [12]


def test_a_consumer_that_wrote_nothing_did_nothing(tmp_path: Path) -> None:
    assert Diary(tmp_path / "none.log").executed == frozenset()
