"""How much is on each lane: counted while it is little, estimated beyond, never walked."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.queue.job import JobState, Priority
from storyshelf.queue.store.depths import (
    COUNTED,
    COUNTED_UP_TO,
    SAMPLED,
    SAMPLED_PAGES,
    Depth,
    LaneLoad,
    estimated,
    lane_loads,
    rounded,
)
from tests.queue.builders import a_job, claimed, enqueued, run
from tests.queue.test_claim_plan import nodes_below, rows_read_of_jobs, wasteful

LANES = ("build", "capture@x", "capture@y", "maintain", "plan")
BACKLOG = f"""
INSERT INTO jobs (kind, lane, priority, state, payload, project_id, fair_tag, max_attempts)
SELECT 'capture', CASE WHEN n % 4 = 0 THEN 'capture@y' ELSE 'capture@x' END, 10,
    CASE WHEN n % 10 = 9 THEN 'parked' ELSE 'queued' END, '{{"shard": 1}}', 1 + n % 200, n / 40, 3
FROM generate_series(1, {200_000}) AS n
"""


async def loads_of(db: Database) -> tuple[LaneLoad, ...]:
    async with db.transaction() as tx:
        return await lane_loads(tx)


async def test_nothing_is_on_no_lane(db: Database) -> None:
    assert await loads_of(db) == ()


async def test_each_class_of_each_lane_is_told_of_apart_the_higher_first(db: Database) -> None:
    await enqueued(
        db,
        a_job(lane="plan"),
        a_job(lane="capture@x"),
        a_job(lane="capture@x", priority=Priority.INTERACTIVE),
        a_job(lane="capture@x", priority=Priority.INTERACTIVE),
    )
    loads = await loads_of(db)
    assert [(each.lane, each.priority, each.queued) for each in loads] == [
        ("capture@x", Priority.INTERACTIVE, 2),
        ("capture@x", Priority.DEFAULT, 1),
        ("plan", Priority.DEFAULT, 1),
    ]


async def test_every_lane_is_found(db: Database) -> None:
    await enqueued(db, *(a_job(lane=lane) for lane in LANES))
    assert tuple(each.lane for each in await loads_of(db)) == LANES


async def test_each_state_is_counted(db: Database) -> None:
    await enqueued(db, *(a_job() for _ in range(10)))
    await claimed(db, free={"capture@x": 4})
    await run(db, "UPDATE jobs SET state = 'parked' WHERE id = (SELECT max(id) FROM jobs)")
    await run(db, "UPDATE jobs SET state = 'deferred' WHERE state = 'queued' AND id % 2 = 0")
    (load,) = await loads_of(db)
    assert (load.running, load.parked, load.queued + load.deferred) == (4, 1, 5)
    assert load.deferred in {2, 3}


async def test_a_lane_without_a_ready_job_has_no_oldest(db: Database) -> None:
    await enqueued(db, a_job())
    await claimed(db)
    (load,) = await loads_of(db)
    assert (load.running, load.oldest_at) == (1, None)


async def test_a_job_is_as_old_as_it_has_been_ready(db: Database) -> None:
    await enqueued(db, a_job())
    await run(db, "UPDATE jobs SET enqueued_at = '2030-01-01Z', run_at = '2030-01-02Z'")
    (load,) = await loads_of(db)
    assert load.oldest_at == datetime(2030, 1, 2, tzinfo=UTC)


async def test_as_many_as_are_counted_are_told_exactly(db: Database) -> None:
    await enqueued(db, *(a_job() for _ in range(COUNTED_UP_TO)))
    (load,) = await loads_of(db)
    assert load.queued == COUNTED_UP_TO


@pytest.mark.timeout(60)
async def test_a_backlog_is_estimated_before_any_statistics_know_of_it(db: Database) -> None:
    await run(db, BACKLOG)
    await enqueued(db, a_job(lane="build"))
    build, x, y = await loads_of(db)
    assert (build.lane, build.queued) == ("build", 1)
    assert x.queued == pytest.approx(130_000, rel=0.05)
    assert y.queued == pytest.approx(50_000, rel=0.05)
    assert x.parked + y.parked == pytest.approx(20_000, rel=0.05)


@pytest.mark.timeout(60)
async def test_a_number_that_is_looked_at_twice_is_the_same(db: Database) -> None:
    await run(db, BACKLOG)
    assert await loads_of(db) == await loads_of(db)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_no_backlog_is_read(db: Database, statistics: str) -> None:
    await run(db, BACKLOG if statistics == "fresh" else BACKLOG.replace("'parked'", "'queued'"))
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    counting = await nodes_of(db, COUNTED.text, {"bound": COUNTED_UP_TO + 1})
    assert wasteful(counting) == []
    # Two lanes and the parked, each up to the bound, and a hop for each lane.
    assert rows_read_of_jobs(counting) < 3 * (COUNTED_UP_TO + 1) + 10
    pages = range(0, SAMPLED_PAGES * 10, 10)
    sampling = await nodes_of(db, SAMPLED.text, {"pages": f"ARRAY{list(pages)}"})
    assert wasteful(sampling) == []
    assert 0 < rows_read_of_jobs(sampling) < 100 * SAMPLED_PAGES


async def nodes_of(db: Database, statement: str, values: dict[str, object]) -> list[dict[str, Any]]:
    for name, value in values.items():
        statement = statement.replace(f":{name}", str(value))
    async with db.transaction() as tx:
        found = await tx.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"))
        (top,) = found.scalar_one()
    return list(nodes_below(top["Plan"]))


def queued(jobs: float, lane: str = "capture@x") -> Depth:
    return Depth(JobState.QUEUED, lane, Priority.DEFAULT, jobs)


def parked(jobs: float, lane: str = "capture@x") -> Depth:
    return Depth(JobState.PARKED, lane, Priority.DEFAULT, jobs)


def test_what_was_counted_to_its_end_is_not_estimated() -> None:
    counted = [queued(5), queued(COUNTED_UP_TO + 1, "capture@y")]
    assert estimated(counted, [queued(500), queued(81_234, "capture@y")]) == [
        queued(5),
        queued(81_000, "capture@y"),
    ]


def test_an_estimate_is_never_less_than_what_was_counted() -> None:
    counted = [queued(COUNTED_UP_TO + 1)]
    assert estimated(counted, [queued(200)]) == counted
    assert estimated(counted, []) == counted


def test_of_parked_jobs_beyond_the_bound_those_of_every_lane_are_estimated() -> None:
    counted = [parked(COUNTED_UP_TO), parked(1, "capture@y")]
    sampled = [parked(7_777), parked(3_333, "capture@y"), parked(95, "capture@z")]
    assert estimated(counted, sampled) == [
        parked(7_800),
        parked(3_300, "capture@y"),
        parked(95, "capture@z"),
    ]


@given(st.floats(1, 1e12))
def test_an_estimate_has_two_digits_and_is_right_to_a_twentieth(jobs: float) -> None:
    said = rounded(jobs)
    assert len(str(said).rstrip("0")) <= 2
    assert said == pytest.approx(jobs, rel=0.051, abs=0.5)


def test_no_jobs_at_all_are_none() -> None:
    assert rounded(0) == 0
