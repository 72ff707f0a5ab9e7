"""What is done for the tables each minute or hour reads little of them, whatever they hold."""

from typing import Any

import pytest
from sqlalchemy import TextClause

from storyshelf.db.engine import Database
from storyshelf.queue.store.age import PROMOTE
from storyshelf.queue.store.caps import LET_IN, LOCK_CAPS
from storyshelf.queue.store.forget import FORGET
from storyshelf.queue.store.unserved import UNSERVED
from tests.queue.builders import run
from tests.queue.test_claim_plan import nodes_below, rows_read_of_jobs, wasteful

QUEUED = """
INSERT INTO jobs (kind, lane, payload, fair_tag, max_attempts, priority, enqueued_at, run_at)
SELECT 'capture', 'capture@' || n % 5, '{}', n, 3, CASE WHEN n % 10 = 0 THEN 0 ELSE 10 END,
    now() - interval '1 hour', now() - interval '1 hour'
FROM generate_series(1, 100000) AS n
"""
PARKED = """
INSERT INTO jobs (kind, lane, payload, fair_tag, max_attempts, project_id, state, capped)
SELECT 'capture', 'capture@x', '{}', n, 3, 1, 'parked', true FROM generate_series(1, 50000) AS n
"""
DEFERRED = """
INSERT INTO jobs (kind, lane, payload, fair_tag, max_attempts, state, run_at)
SELECT 'deliver', 'deliver', '{}', n, 3, 'deferred', now() + n * interval '1 second'
FROM generate_series(1, 50000) AS n
"""
ENDED = """
INSERT INTO jobs_done (id, kind, lane, generation, priority, state, outcome, attempt, charged,
    max_attempts, payload, enqueued_at, finished_at)
SELECT n, 'capture', 'capture@x', 1, 10, 'done', 'completed', 1, 1, 3, '{}', at, at
FROM (
    SELECT n, now() - make_interval(days => 60) + n * interval '1 minute' AS at
    FROM generate_series(1, 80000) AS n
) AS made
"""
AGEING = {"low": 0, "high": 10, "waited_s": 600.0, "limit": 100}


async def nodes_of(db: Database, statement: TextClause, values: dict[str, Any]) -> list[Any]:
    """Run the statement under EXPLAIN, with its values written into it."""
    words = statement.text
    for name, value in sorted(values.items(), key=lambda each: -len(each[0])):
        words = words.replace(f":{name}", str(value))
    async with db.transaction() as tx:
        found = await tx.connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {words}")
        (top,) = found.scalar_one()
    return list(nodes_below(top["Plan"]))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_ageing_looks_at_the_head_of_each_lane_alone(db: Database, statistics: str) -> None:
    await run(db, QUEUED)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    nodes = await nodes_of(db, PROMOTE, AGEING)
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) < 3_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_a_page_of_history_is_read_by_its_ids(db: Database, statistics: str) -> None:
    await run(db, ENDED)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs_done")
    nodes = await nodes_of(db, FORGET, {"after": 0, "limit": 1000, "kept_s": 30 * 86_400.0})
    read = [node for node in nodes if node.get("Relation Name") == "jobs_done"]
    assert [node for node in read if node["Node Type"] == "Seq Scan"] == []
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in read) < 10_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_whoever_lets_in_looks_at_no_more_of_what_is_parked_than_comes_in(
    db: Database, statistics: str
) -> None:
    await run(db, "INSERT INTO running_caps (project_id, most) VALUES (1, 4)")
    await run(db, PARKED)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    locked = await nodes_of(db, LOCK_CAPS, {})
    let_in = await nodes_of(db, LET_IN, {"locked": "'{1}'", "at_once": 1_000})
    assert wasteful(locked) == wasteful(let_in) == []
    assert rows_read_of_jobs([*locked, *let_in]) < 50


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_who_looks_for_unserved_work_reads_the_first_of_what_is_deferred(
    db: Database, statistics: str
) -> None:
    await run(db, DEFERRED)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    nodes = await nodes_of(db, UNSERVED, {"silent_s": 60.0, "head": 100, "deferred": 1_000})
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) < 1_100
