"""The plan of the claim: no lane's backlog is walked for another, whatever its length."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.queue.store.claim import CLAIM, NO_FLOOR
from tests.queue.builders import ANN, a_job, enqueued, run

QUEUED = 200_000
FILL = f"""
INSERT INTO jobs (kind, lane, payload, project_id, build_id, fair_tag, max_attempts)
SELECT 'capture', 'capture@x', '{{"shard": 1}}', 1 + n % 200, n / 40, n, 3
FROM generate_series(1, {QUEUED}) AS n
"""

TYPES = {
    "lanes": "text[]",
    "free": "int[]",
    "shared": "int[]",
    "floors_20": "bigint[]",
    "floors_10": "bigint[]",
    "floors_0": "bigint[]",
    "consumer_id": "text",
    "lease_s": "float8",
    "lost": "text",
    "kinds": "text[]",
}
PARAMETERS = list(TYPES)

Plan = dict[str, Any]


@pytest.fixture
async def backlog(unknown_db: Database) -> Database:
    """200,000 queued captures, and one job of the build lane that came last."""
    await run(unknown_db, FILL)
    await enqueued(unknown_db, a_job(kind="finalise", lane="build"))
    return unknown_db


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
@pytest.mark.parametrize("offered", [{"build": 4}, {"build": 4, "plan": 1, "deliver": 2}])
async def test_a_claim_for_another_lane_reads_nothing_of_the_backlog(
    backlog: Database, statistics: str, offered: dict[str, int]
) -> None:
    if statistics == "fresh":
        await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, offered)
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) < 10


@pytest.mark.timeout(60)
async def test_a_claim_for_the_backlog_itself_reads_no_more_than_it_takes(
    backlog: Database,
) -> None:
    await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, {"capture@x": 8})
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) < 40


@pytest.mark.timeout(60)
async def test_a_plan_made_for_any_parameters_is_as_good(backlog: Database) -> None:
    await run(backlog, "ANALYZE jobs")
    nodes = await nodes_of_claim(backlog, {"build": 4}, "force_generic_plan")
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) < 10


async def nodes_of_claim(
    db: Database, offered: dict[str, int], plans: str = "force_custom_plan"
) -> list[Plan]:
    """Run the claim as a prepared statement, the way the driver does, and return its plan."""
    lanes, free = list(offered), list(offered.values())
    floors = f"ARRAY{[NO_FLOOR] * len(lanes)}::bigint[]"
    async with db.transaction() as tx:
        types = ", ".join(TYPES.values())
        await tx.connection.exec_driver_sql(f"PREPARE claim ({types}) AS {numbered(CLAIM.text)}")
        await tx.execute(text(f"SET LOCAL plan_cache_mode = {plans}"))
        found = await tx.connection.exec_driver_sql(
            f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim"
            f" (ARRAY{lanes}::text[], ARRAY{free}, ARRAY{free}, {floors}, {floors}, {floors},"
            f" '{ANN}', 60.0, 'lost', ARRAY['capture', 'finalise'])"
        )
        plan = found.scalar_one()
        await tx.connection.exec_driver_sql("DEALLOCATE claim")
    (top,) = plan
    return list(nodes_below(top["Plan"]))


def numbered(statement: str) -> str:
    """Write the named parameters as the numbers of PARAMETERS."""
    return re.sub(r"(?<!:):([a-z]\w*)", lambda name: f"${PARAMETERS.index(name[1]) + 1}", statement)


def nodes_below(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_below(child)


def wasteful(nodes: list[Plan]) -> list[Plan]:
    """The nodes that read rows of `jobs` which the claim has no use for."""
    of_jobs = [node for node in nodes if node.get("Relation Name") == "jobs"]
    return [
        node
        for node in of_jobs
        if node["Node Type"] == "Seq Scan" or node.get("Rows Removed by Filter")
    ]


def rows_read_of_jobs(nodes: list[Plan]) -> float:
    """How many rows all scans of `jobs` and its indexes gave, over all their loops."""
    scans = [
        node
        for node in nodes
        if node.get("Relation Name") == "jobs" and "Scan" in node["Node Type"]
    ]
    return float(sum(node["Actual Rows"] * node["Actual Loops"] for node in scans))
