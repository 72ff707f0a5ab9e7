"""A cap on a project's running jobs: what is beyond it is parked, and let in as others leave."""

import asyncio
from typing import Any

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import Completed, NewJob
from tests.queue.builders import ANN, LEASE_FOR, a_job, claimed, enqueued, table

SHOP = ProjectId(1)


async def cap(db: Database, most: int | None) -> None:
    async with db.transaction() as tx:
        await store.set_running_cap(tx, SHOP, most)


async def let_in(db: Database) -> int:
    async with db.transaction() as tx:
        return await store.let_in_parked(tx)


async def states(db: Database) -> list[str]:
    return [row["state"] for row in await table(db, "jobs")]


def of_shop(**changes: Any) -> NewJob:
    return a_job(project_id=SHOP, **changes)


async def test_without_a_cap_nothing_is_parked(db: Database) -> None:
    await enqueued(db, of_shop())
    assert await states(db) == ["queued"]


async def test_a_capped_project_is_let_in_up_to_its_cap(db: Database) -> None:
    await cap(db, 2)
    await enqueued(db, *[of_shop()] * 5)
    assert await let_in(db) == 2
    assert await let_in(db) == 0
    assert await states(db) == ["queued"] * 2 + ["parked"] * 3


async def test_whoever_leaves_makes_room_for_the_next(db: Database) -> None:
    await cap(db, 1)
    await enqueued(db, *[of_shop()] * 2)
    await let_in(db)
    (lease,) = await claimed(db)
    assert await let_in(db) == 0
    async with db.transaction() as tx:
        await store.settle(tx, [(lease, Completed())])
    assert await let_in(db) == 1


async def test_a_claim_says_that_jobs_are_parked(db: Database) -> None:
    await cap(db, 1)
    await enqueued(db, of_shop())
    async with db.transaction() as tx:
        found = await store.claim(tx, ANN, {"capture@x": 1}, LEASE_FOR)
    assert (found.leases, found.parked) == ((), True)


async def test_what_needs_no_environment_is_not_capped(db: Database) -> None:
    await cap(db, 1)
    await enqueued(db, *[of_shop(kind="finalise", lane="build")] * 3)
    assert await states(db) == ["queued"] * 3


async def test_a_project_whose_cap_is_taken_away_is_let_in_whole(db: Database) -> None:
    await cap(db, 1)
    await enqueued(db, *[of_shop()] * 3)
    await cap(db, None)
    assert await let_in(db) == 3


async def test_two_that_let_in_at_once_let_in_the_share_once(db: Database) -> None:
    await cap(db, 3)
    await enqueued(db, *[of_shop()] * 20)
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(let_in(db))
    assert (await states(db)).count("queued") == 3


async def test_a_parked_job_can_be_cancelled(db: Database) -> None:
    await cap(db, 1)
    ids = await enqueued(db, of_shop())
    async with db.transaction() as tx:
        assert [job.job_id for job in await store.cancel_jobs(tx, ids)] == list(ids)
    assert await states(db) == []
