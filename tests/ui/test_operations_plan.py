"""What the operations page asks of the database: as much with 200,000 jobs as with few."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from storyshelf.db.engine import Database
from storyshelf.operations.overview import overview
from storyshelf.queue.store.depths import COUNTED_UP_TO, SAMPLED_PAGES
from storyshelf.ui.job_lists import listed_now
from tests.queue.builders import run
from tests.queue.test_claim_plan import nodes_below
from tests.queue.test_list_plans import FILL

RUNNING = 50  # as many as there are slots
SETTLE_MOST = f"DELETE FROM jobs WHERE state = 'running' AND id > {RUNNING}"
ROWS_A_PAGE = 40  # of the table, more than fit
Asked = list[tuple[str, Any]]


@contextmanager
def asked_of(db: Database) -> Iterator[Asked]:
    """Collect the statements that are run inside, with their values."""
    found: Asked = []

    def keep(_connection: Any, _cursor: Any, statement: str, values: Any, *_rest: Any) -> None:
        found.append((statement, values))

    event.listen(db.engine.sync_engine, "before_cursor_execute", keep)
    yield found
    event.remove(db.engine.sync_engine, "before_cursor_execute", keep)


async def plan_of(db: Database, statement: str, values: Any) -> list[dict[str, Any]]:
    async with db.transaction() as tx:
        explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
        ((top,),) = (await tx.connection.exec_driver_sql(explained, values)).scalars()
    return list(nodes_below(top["Plan"]))


@pytest.mark.timeout(90)
async def test_the_page_walks_no_backlog(db: Database) -> None:
    await run(db, FILL)
    await run(db, SETTLE_MOST)
    await run(db, "ANALYZE jobs")
    with asked_of(db) as asked:
        async with db.transaction() as tx:
            await listed_now(tx, await overview(tx), 20)
    of_jobs = [(said, values) for said, values in asked if " jobs" in said]
    assert len(of_jobs) >= 5
    for statement, values in of_jobs:
        nodes = [node for node in await plan_of(db, statement, values) if of_table(node)]
        assert [node for node in nodes if node["Node Type"] == "Seq Scan"] == []
        assert sum(removed(node) for node in nodes) <= 100 + SAMPLED_PAGES * ROWS_A_PAGE
        assert sum(read(node) for node in nodes) <= 12 * COUNTED_UP_TO + SAMPLED_PAGES * ROWS_A_PAGE


def of_table(node: dict[str, Any]) -> bool:
    return node.get("Relation Name") == "jobs"


def removed(node: dict[str, Any]) -> float:
    return float(node.get("Rows Removed by Filter", 0) * node["Actual Loops"])


def read(node: dict[str, Any]) -> float:
    return float(node["Actual Rows"] * node["Actual Loops"])
