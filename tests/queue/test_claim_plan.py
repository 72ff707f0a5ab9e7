"""The plan of the claim: no lane's backlog is walked for another, whatever its length."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.queue.store.claim import CLAIM
from tests.queue.builders import ANN, a_job, enqueued, run

QUEUED = 200_000
FILL = f"""
INSERT INTO jobs (kind, lane, payload, project_id, build_id, fair_tag, max_attempts)
SELECT 'capture', 'capture@x', '{{"shard": 1}}', 1 + n % 200, n / 40, n, 3
FROM generate_series(1, {QUEUED}) AS n
"""

Plan = dict[str, Any]


@pytest.fixture
async def backlog(db: Database) -> Database:
    """200,000 queued captures, and one job of the build lane that came last."""
    await run(db, FILL)
    await enqueued(db, a_job(kind="finalise", lane="build"))
    return db


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
@pytest.mark.parametrize("offered", [{"build": 4}, {"build": 4, "plan": 1, "deliver": 2}])
async def test_a_claim_for_another_lane_reads_nothing_of_the_backlog(
    backlog: Database, statistics: str, offered: dict[str, int]
) -> None:
    if statistics == "fresh":
        await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, offered)
    assert [node for node in nodes if is_seq_scan_of_jobs(node)] == []
    assert [node for node in nodes if node.get("Rows Removed by Filter")] == []
    assert rows_read_of_jobs(nodes) < 10


@pytest.mark.timeout(60)
async def test_a_claim_for_the_backlog_itself_reads_no_more_than_it_takes(
    backlog: Database,
) -> None:
    await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, {"capture@x": 8})
    assert [node for node in nodes if is_seq_scan_of_jobs(node)] == []
    assert rows_read_of_jobs(nodes) < 40


@pytest.mark.timeout(60)
async def test_a_plan_made_for_any_parameters_is_as_good(backlog: Database) -> None:
    await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, {"build": 4}, "force_generic_plan")
    assert [node for node in nodes if is_seq_scan_of_jobs(node)] == []
    assert rows_read_of_jobs(nodes) < 10


async def nodes_of_claim(db: Database, offered: dict[str, int], plans: str = "auto") -> list[Plan]:
    values = {
        "lanes": list(offered),
        "free": list(offered.values()),
        "consumer_id": ANN,
        "lease_s": 60.0,
        "lost": "lost",
    }
    async with db.transaction() as tx:
        await tx.execute(text(f"SET LOCAL plan_cache_mode = {plans}"))
        explained = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {CLAIM.text}")
        found = (await tx.execute(explained, values)).scalar_one()
    (top,) = json.loads(found) if isinstance(found, str) else found
    return list(nodes_below(top["Plan"]))


def nodes_below(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_below(child)


def is_seq_scan_of_jobs(node: Plan) -> bool:
    return node["Node Type"] == "Seq Scan" and node.get("Relation Name") == "jobs"


def rows_read_of_jobs(nodes: list[Plan]) -> float:
    """How many rows all scans of `jobs` and its indexes gave, over all their loops."""
    scans = [
        node
        for node in nodes
        if node.get("Relation Name") == "jobs" and "Scan" in node["Node Type"]
    ]
    return float(sum(node["Actual Rows"] * node["Actual Loops"] for node in scans))
