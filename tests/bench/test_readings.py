import json

import pytest

from bench.readings import steps_of
from bench.split import UnreadableRunError


def line(shard: int, **took_ms: float) -> str:
    return json.dumps({"shard": shard, "took_ms": took_ms, "event": "shard.captured"})


def test_a_shards_steps_are_found_among_whatever_else_was_logged() -> None:
    lines = ["listening on", '{"event": "job.settled"}', line(8, child=2), line(7, child=1)]
    assert steps_of([7, 8], lines) == [{"child": 1}, {"child": 2}]


def test_shards_of_other_builds_are_left_out() -> None:
    assert steps_of([8], [line(7, child=1), line(8, child=2)]) == [{"child": 2}]


def test_a_shard_that_the_log_does_not_tell_of_is_named() -> None:
    with pytest.raises(UnreadableRunError, match=r"shards \[9\]"):
        steps_of([7, 9], [line(7, child=1)])
