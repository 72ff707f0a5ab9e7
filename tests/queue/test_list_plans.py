"""The plans of the lists: a page of 200,000 jobs reads about as many rows as it shows."""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import TextClause, text

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.queue.store import lists
from tests.queue.builders import run
from tests.queue.test_claim_plan import nodes_below, rows_read_of_jobs

EACH = 50_000
# Every state in the order of their ids: what has one of them lies among thousands of the others.
FILL = f"""
INSERT INTO jobs (
    kind, lane, payload, project_id, build_id, fair_tag, max_attempts, state, run_at,
    lease_token, lease_expires_at, consumer_id
)
SELECT 'capture', 'capture@' || n % 3, '{{}}', 1 + n % 200, n / 40, n, 3, state,
    now() + n * interval '1 second',
    CASE WHEN state = 'running' THEN gen_random_uuid() END,
    CASE WHEN state = 'running' THEN now() END,
    CASE WHEN state = 'running' THEN 'ann' END
FROM unnest(ARRAY['running', 'deferred', 'parked', 'queued']) AS states (state),
    generate_series(1, {EACH}) AS n
"""
DONE = """
INSERT INTO jobs_done (
    id, kind, lane, generation, priority, state, outcome, attempt, charged, max_attempts, payload,
    enqueued_at, finished_at
)
SELECT n, 'deliver', 'deliver', 0, 10, state,
    CASE state WHEN 'done' THEN 'completed' ELSE state END,
    1, 1, 3, '{}', now(), now() - n * interval '1 second'
FROM generate_series(1, 100000) AS n,
    LATERAL (SELECT CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'done' END AS state) AS ended
"""
LIMIT = 50
LANE = {"key": "capture@1", "priority": 10, "fair_tag": 20_000, "after_id": 0}
PROJECT = {"key": 17, "priority": 10, "fair_tag": 20_000, "after_id": 0}
FIRST = {"priority": 20, "fair_tag": 0, "after_id": 0}
NOW = SystemClock().now()
LISTS: Mapping[str, tuple[TextClause, Mapping[str, Any]]] = {
    "queued, from the first": (lists.QUEUED, {"key": "", **FIRST, "limit": LIMIT}),
    "queued, further on": (lists.QUEUED, {**LANE, "limit": LIMIT}),
    "parked, from the first": (lists.PARKED, {"key": 0, **FIRST, "limit": LIMIT}),
    "parked, further on": (lists.PARKED, {**PROJECT, "limit": LIMIT}),
    "running": (lists.RUNNING, {"after": 7, "limit": LIMIT}),
    "deferred": (lists.DEFERRED, {"after_at": None, "after_id": None, "limit": LIMIT}),
    "deferred, further on": (lists.DEFERRED, {"after_at": NOW, "after_id": 9, "limit": LIMIT}),
    "the first of lanes": (
        lists.FIRST_OF_LANES,
        {"lanes": ["capture@0", "capture@2"], "priorities": [10, 10], "each": 5},
    ),
}


@pytest.mark.timeout(90)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_no_list_reads_the_backlog(unknown_db: Database, statistics: str) -> None:
    db = unknown_db
    await run(db, FILL)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    for name, (statement, values) in LISTS.items():
        nodes = await nodes_of(db, statement, values)
        assert (name, wasteful(nodes)) == (name, [])
        assert rows_read_of_jobs(nodes) <= 4 * LIMIT, name


@pytest.mark.timeout(60)
@pytest.mark.parametrize("before", [None, NOW])
async def test_the_list_of_failed_jobs_reads_nothing_of_those_that_were_done(
    db: Database, before: Any
) -> None:
    await run(db, DONE)
    await run(db, "ANALYZE jobs_done")
    values = {"before_at": before, "before_id": before and 9, "limit": LIMIT}
    nodes = await nodes_of(db, lists.FAILED, values)
    assert wasteful(nodes) == []
    (scan,) = (node for node in nodes if node.get("Relation Name") == "jobs_done")
    assert scan["Actual Rows"] <= LIMIT


async def nodes_of(
    db: Database, statement: TextClause, values: Mapping[str, Any]
) -> list[dict[str, Any]]:
    explained = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}")
    async with db.transaction() as tx:
        ((top,),) = (await tx.execute(explained, values)).scalars()
    return list(nodes_below(top["Plan"]))


def wasteful(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The nodes that read a whole table, or rows that the list has no use for."""
    return [
        node
        for node in nodes
        if node["Node Type"] == "Seq Scan"
        or node.get("Rows Removed by Filter", 0) > 0
        or node.get("Rows Removed by Index Recheck", 0) > 0
    ]
