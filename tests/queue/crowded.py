"""A queue as it is in a bad hour, and the plans that statements get there.

200,000 jobs are ready on three lanes for 200 projects; some are deferred, parked or running, some
leases have run out, and 50,000 have ended. As many run as ten consumers of eight places hold.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import asyncpg
from sqlalchemy import TextClause

from storyshelf.db.engine import Database
from storyshelf.db.line import _compiled as compiled
from tests.queue.builders import run

READY, DONE, RUNNING, EXPIRED, OVERDUE = 200_000, 50_000, 80, 10, 4
ENDED = f"""
INSERT INTO jobs_done (
    id, kind, lane, generation, project_id, build_id, priority, state, outcome, attempt, charged,
    max_attempts, payload, enqueued_at, finished_at
)
SELECT nextval(pg_get_serial_sequence('jobs', 'id')), 'capture', 'capture@0', 1, 1 + n % 200,
    n / 40, 10, 'done', 'completed', 1, 1, 3, '{{}}', now() - interval '1 day', now()
FROM generate_series(1, {DONE}) AS n
"""
ATTEMPTS = """
INSERT INTO job_attempts (job_id, attempt, consumer_id, outcome, started_at, ended_at)
SELECT id, 1, 'ann', 'completed', now(), now() FROM jobs_done
"""
CLASSES = "CASE n % 20 WHEN 0 THEN 20 WHEN 1 THEN 0 ELSE 10 END"
WAITING = f"""
INSERT INTO jobs (
    kind, lane, payload, project_id, build_id, generation, fair_tag, max_attempts, priority, state,
    capped, dedupe_key, enqueued_at, run_at
)
SELECT 'capture', 'capture@' || n % 3, '{{"shard": 1}}', 1 + n % 200, 10000 + n / 40, 1, n, 3,
    {CLASSES}, state, state = 'parked', state || n, now() - interval '2 hours',
    now() + CASE WHEN state = 'deferred' THEN (n - 50) * interval '1 second' ELSE '-2 hours' END
FROM (VALUES ('queued', {READY}), ('deferred', 2000), ('parked', 20000)) AS states (state, number),
    LATERAL generate_series(1, number) AS n
"""
LEASED = f"""
INSERT INTO jobs (
    kind, lane, payload, project_id, build_id, generation, fair_tag, max_attempts, attempt, charged,
    state, lease_token, lease_expires_at, consumer_id, attempt_started_at
)
SELECT 'capture', 'capture@' || n % 3, '{{"shard": 1}}', 1 + n % 200, 10000 + n, 1, n, 3, 3,
    CASE WHEN n <= {OVERDUE} THEN 3 ELSE 1 END, 'running', CAST(lpad(n::text, 32, '0') AS uuid),
    now() + CASE WHEN n <= {EXPIRED} THEN '-1 hour' ELSE interval '1 hour' END,
    'consumer ' || n / 8, now()
FROM generate_series(1, {RUNNING}) AS n
"""
TAGS = """
INSERT INTO lane_tags (lane, priority, project_id, last_tag)
SELECT lane, priority, project_id, max(fair_tag) FROM jobs GROUP BY 1, 2, 3
"""
CAPS = "INSERT INTO running_caps (project_id, most) SELECT n, 50 FROM generate_series(1, 100) AS n"
CONSUMERS = """
INSERT INTO consumers (id, host, pid, version, lanes, kinds)
SELECT 'consumer ' || n, 'host', n, '1', '{capture@0,capture@1}', '{capture}'
FROM generate_series(0, 9) AS n
"""
TABLES = ("jobs", "jobs_done", "job_attempts", "lane_tags", "running_caps", "consumers")
READ_BY_FILTER = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
MOST_REMOVED = 100  # rows, by a filter of one node
KEEPS_A_PLAN_AFTER = 6  # uses of a prepared statement
Plan = dict[str, Any]


async def crowd(db: Database) -> None:
    """Fill the tables."""
    for statement in (ENDED, ATTEMPTS, WAITING, LEASED, TAGS, CAPS, CONSUMERS):
        await run(db, statement)


async def analyze(db: Database) -> None:
    """Have the planner know what is in the tables."""
    for table in TABLES:
        await run(db, f"ANALYZE {table}")


async def plan_of(
    connection: "asyncpg.Connection[Any]", statement: TextClause, values: Mapping[str, Any]
) -> list[Plan]:
    """Run the prepared statement, undo what it did, and return the nodes of its plan.

    It is planned as it is after it was used for a while, when the server may have kept a plan.
    """
    sql, names = compiled(statement)
    arguments = ", ".join(literal(values[name]) for name in names)
    execute = f"EXECUTE seen ({arguments})" if names else "EXECUTE seen"
    await connection.execute(f"PREPARE seen AS {sql}")
    for _ in range(KEEPS_A_PLAN_AFTER):
        await connection.fetch(f"EXPLAIN {execute}")
    await connection.execute("BEGIN")
    found = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {execute}")
    await connection.execute("ROLLBACK; DEALLOCATE seen")
    (top,) = json.loads(found)
    return list(_below(top["Plan"]))


def literal(value: Any) -> str:
    """Write a value as the server reads it for whatever type the statement wants."""
    if value is None:
        return "NULL"
    return "'" + _words(value).replace("'", "''") + "'"


def _words(value: Any) -> str:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return str(value)
    return "{" + ",".join(_element(one) for one in value) + "}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    return '"' + re.sub(r'(["\\])', r"\\\1", str(value)) + '"'


def _below(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _below(child)


def _times(node: Plan) -> float:
    # A claim reads what runs once for each lane that it offers: that is as much as there are
    # places, whatever the backlog. Anything else is counted over all loops.
    indexes = {part.get("Index Name") for part in (node, *node.get("Plans", []))}
    return 1 if "ix_jobs_running" in indexes else float(node["Actual Loops"])


def faults(nodes: Sequence[Plan]) -> list[str]:
    """Return in words which nodes read all of the jobs, or far more rows than are of use."""
    scans = [
        f"{node['Node Type']} of {node['Relation Name']}"
        for node in nodes
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in {"jobs", "jobs_done"}
    ]
    removed = [
        f"{node['Node Type']} of {node.get('Relation Name', '')}: {rows:.0f} {key}"
        for node in nodes
        for key in READ_BY_FILTER
        if (rows := node.get(key, 0) * _times(node)) > MOST_REMOVED
    ]
    return scans + removed
