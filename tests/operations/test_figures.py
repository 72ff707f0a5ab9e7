"""How kinds fare, as it is read from what was counted."""

from datetime import timedelta
from itertools import pairwise
from uuid import uuid4

import pytest

from storyshelf.db.engine import Database
from storyshelf.operations import metric_store
from storyshelf.operations.accumulator import Accumulator
from storyshelf.operations.figures import KindFigures, figures, throughput
from storyshelf.operations.rollup import roll_up
from storyshelf.queue.job import AttemptEnded, Outcome
from tests.queue.builders import run

HOUR = timedelta(hours=1)


def ended(
    ran_ms: int = 100, outcome: Outcome = Outcome.COMPLETED, **changes: object
) -> AttemptEnded:
    said: dict[str, object] = {"kind": "capture", "attempt": 1, "waited_ms": 10, **changes}
    return AttemptEnded(lane="x", outcome=outcome, ran_ms=ran_ms, **said)  # type: ignore[arg-type]  # defaults of a test


async def counted(db: Database, *attempts: AttemptEnded, ago: timedelta = timedelta()) -> None:
    """Have them counted as having ended so long ago."""
    accumulator = Accumulator(lambda: 0.0)
    for each in attempts:
        accumulator.observe(each)
    async with db.transaction() as tx:
        number = (uuid4(), 1)
        await metric_store.add(tx, number, accumulator.drain(), ago.total_seconds())


async def of_last(db: Database, last: timedelta = HOUR) -> dict[str, KindFigures]:
    async with db.transaction() as tx:
        return {each.kind: each for each in await figures(tx, last)}


async def test_where_nothing_ended_there_are_no_figures(db: Database) -> None:
    assert await of_last(db) == {}


async def test_outcomes_are_counted_by_kind(db: Database) -> None:
    await counted(db, ended(), ended(), ended(outcome=Outcome.RETRIED), ended(kind="plan"))
    found = await of_last(db)
    assert found["capture"].outcomes == {Outcome.COMPLETED: 2, Outcome.RETRIED: 1}
    assert found["plan"].outcomes == {Outcome.COMPLETED: 1}


async def test_the_rate_is_over_the_time_that_was_asked_for(db: Database) -> None:
    await counted(db, *(ended() for _ in range(30)))
    assert (await of_last(db))["capture"].per_minute == pytest.approx(0.5)
    assert (await of_last(db, HOUR / 2))["capture"].per_minute == pytest.approx(1.0)


async def test_waits_and_runs_are_told_as_half_and_most(db: Database) -> None:
    await counted(db, *(ended(150, waited_ms=3) for _ in range(90)))
    await counted(db, *(ended(1_500, outcome=Outcome.FAILED) for _ in range(10)))
    capture = (await of_last(db))["capture"]
    assert capture.run is not None
    assert capture.wait is not None
    assert 100 <= capture.run.p50_ms <= 200
    assert 1_000 <= capture.run.p95_ms <= 2_000
    assert 2 <= capture.wait.p50_ms <= 5


async def test_a_wait_that_nobody_counted_is_not_told(db: Database) -> None:
    await counted(db, ended(attempt=2))
    capture = (await of_last(db))["capture"]
    assert capture.wait is None
    assert capture.run is not None


async def test_what_ended_before_is_left_out(db: Database) -> None:
    await counted(db, ended(), ago=timedelta(minutes=61))
    assert await of_last(db) == {}


async def test_a_long_time_is_read_from_hours(db: Database) -> None:
    await counted(db, ended(), ago=timedelta(hours=20))
    await roll_up(db)
    await run(db, "DELETE FROM job_metrics WHERE width = 'minute'")
    assert (await of_last(db, timedelta(hours=24)))["capture"].outcomes == {Outcome.COMPLETED: 1}


async def test_throughput_has_a_figure_for_every_whole_minute(db: Database) -> None:
    await counted(db, ended(), ended(outcome=Outcome.FAILED), ago=timedelta(minutes=5))
    await counted(db, ended(kind="plan"), ago=timedelta(minutes=5))
    async with db.transaction() as tx:
        found = await throughput(tx, 30)
    assert len(found) == 30
    steps = {later.minute - earlier.minute for earlier, later in pairwise(found)}
    assert steps == {timedelta(minutes=1)}
    assert [(each.count, each.completed) for each in found if each.count] == [(3, 2)]
