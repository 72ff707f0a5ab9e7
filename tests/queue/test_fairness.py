"""A project that floods a lane takes its turn like the others."""

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import Completed
from tests.queue.builders import a_job, claimed, enqueued

FLOOD, FIRST, SECOND = ProjectId(1), ProjectId(2), ProjectId(3)
AHEAD = 10_000
WITHIN_STARTS = 60


async def test_two_small_projects_are_done_within_sixty_starts_of_a_flood(db: Database) -> None:
    await enqueued(db, *[a_job(project_id=FLOOD)] * AHEAD)
    for project in (FIRST, SECOND):
        await enqueued(db, *[a_job(project_id=project)] * 10)
    started: list[ProjectId | None] = []
    while started.count(FIRST) + started.count(SECOND) < 20:
        leases = await claimed(db, free={"capture@x": 4})
        started += [lease.project_id for lease in leases]
        async with db.transaction() as tx:
            await store.settle(tx, [(lease, Completed()) for lease in leases])
    assert len(started) <= WITHIN_STARTS


async def test_projects_that_are_all_busy_start_equally_often(db: Database) -> None:
    projects = [ProjectId(number) for number in range(1, 6)]
    for project in projects:
        await enqueued(db, *[a_job(project_id=project)] * 100)
    started: list[ProjectId | None] = []
    for _ in range(25):
        started += [lease.project_id for lease in await claimed(db, free={"capture@x": 4})]
    times = [started.count(project) for project in projects]
    assert max(times) - min(times) <= 4  # a claim's worth
