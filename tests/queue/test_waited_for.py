"""How much of a project goes before all others, counted at a price that no backlog raises."""

import pytest

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import Priority
from storyshelf.queue.store.waited_for import WAITED_FOR, waited_for
from tests.queue.builders import ANN, LEASE_FOR, a_job, enqueued, run
from tests.queue.test_claim_plan import rows_read_of_jobs, wasteful
from tests.queue.test_upkeep_plans import PARKED, QUEUED, nodes_of

LANE, PROJECT = "capture@x", ProjectId(1)


async def of_project(db: Database) -> int:
    async with db.transaction() as tx:
        return await waited_for(tx, LANE, PROJECT)


async def test_what_waits_and_runs_of_the_project_on_the_lane_is_counted(db: Database) -> None:
    mine = a_job(lane=LANE, project_id=PROJECT, priority=Priority.INTERACTIVE)
    await enqueued(db, mine, mine)
    await enqueued(db, a_job(lane=LANE, project_id=PROJECT))
    await enqueued(db, a_job(lane=LANE, project_id=ProjectId(2), priority=Priority.INTERACTIVE))
    await enqueued(db, a_job(lane="plan", project_id=PROJECT, priority=Priority.INTERACTIVE))
    async with db.transaction() as tx:
        await store.claim(tx, ANN, {LANE: 1}, LEASE_FOR)
    assert await of_project(db) == 2


async def test_what_a_cap_holds_back_counts_too(db: Database) -> None:
    """Without the cap all of it would go first at once."""
    async with db.transaction() as tx:
        await store.set_running_cap(tx, PROJECT, 1)
    mine = a_job(lane=LANE, project_id=PROJECT, priority=Priority.INTERACTIVE)
    await enqueued(db, mine, mine, mine)
    assert await of_project(db) == 3


@pytest.mark.timeout(60)
@pytest.mark.parametrize("statistics", ["none yet", "fresh"])
async def test_no_backlog_is_walked(db: Database, statistics: str) -> None:
    await run(db, QUEUED)
    await run(db, PARKED)
    if statistics == "fresh":
        await run(db, "ANALYZE jobs")
    values = {"lane": "'capture@1'", "first": 20, "project_id": 1}
    nodes = await nodes_of(db, WAITED_FOR, values)
    assert wasteful(nodes) == []
    assert rows_read_of_jobs(nodes) == 0
