"""What fairness remembers of a lane goes when its environment is gone, and not before."""

from dataclasses import replace

import pytest

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.queue import store
from storyshelf.queue.store import Consumer
from tests.queue.builders import ANN, a_job, a_lease, enqueued, run, table

OF_X = Consumer(ANN, "ann", 1, "1", ("capture@x",), ("capture",), None)
WAITING = ["queued", "deferred", "parked"]


async def lanes(db: Database) -> list[str]:
    return sorted({row["lane"] for row in await table(db, "lane_tags")})


async def forget(db: Database, limit: int = 100) -> int:
    async with db.transaction() as tx:
        return await store.forget_lanes(tx, limit=limit)


async def left_tags(db: Database, *lanes: str) -> None:
    """Have had jobs on these lanes that are done."""
    await enqueued(db, *(a_job(lane=lane, project_id=ProjectId(7)) for lane in lanes))
    await run(db, "DELETE FROM jobs")


async def test_the_tags_of_an_environment_that_is_gone_are_forgotten(db: Database) -> None:
    await left_tags(db, "capture@x", "plan")
    assert await forget(db) == 1
    assert await lanes(db) == ["plan"]


@pytest.mark.parametrize("state", WAITING)
async def test_those_of_a_lane_on_which_a_job_waits_stay(db: Database, state: str) -> None:
    await enqueued(db, a_job())
    await run(db, f"UPDATE jobs SET state = '{state}'")
    assert await forget(db) == 0


async def test_those_of_a_lane_on_which_a_job_runs_stay(db: Database) -> None:
    await a_lease(db)
    assert await forget(db) == 0


async def test_those_of_a_lane_that_a_consumer_offers_stay(db: Database) -> None:
    await left_tags(db, "capture@x", "capture@y")
    async with db.transaction() as tx:
        await store.register_consumer(tx, replace(OF_X, lanes=("plan", "capture@x")))
    await forget(db)
    assert await lanes(db) == ["capture@x"]


async def test_what_somebody_enqueues_on_at_this_moment_is_waited_for_by_nobody(
    db: Database,
) -> None:
    await left_tags(db, "capture@x", "capture@y")
    async with db.transaction() as tx:
        await store.enqueue(tx, [a_job(project_id=ProjectId(7))])
        assert await forget(db) == 1
    assert await lanes(db) == ["capture@x"]


async def test_only_so_many_go_at_a_time(db: Database) -> None:
    await left_tags(db, "capture@x", "capture@y", "capture@z")
    assert [await forget(db, limit=2) for _ in range(3)] == [2, 1, 0]
