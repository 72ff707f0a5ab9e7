"""Which content a project has brought."""

import asyncio

from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey, ProjectId
from storyshelf.projects import store as projects
from storyshelf.storage import store
from tests.db.waiting import someone_waits

ONE, TWO, THREE = (BlobKey(digit * 64) for digit in "123")


async def a_project(db: Database, slug: str = "shop") -> ProjectId:
    async with db.transaction() as tx:
        return (await projects.add(tx, slug, slug, "main")).id


async def test_what_was_not_brought_is_missing_in_the_order_asked_each_once(db: Database) -> None:
    project = await a_project(db)
    async with db.transaction() as tx:
        await store.remember(tx, project, {TWO: 2})
        assert await store.missing(tx, project, [THREE, TWO, ONE, THREE]) == (THREE, ONE)


async def test_content_belongs_to_the_project_that_brought_it(db: Database) -> None:
    shop, other = await a_project(db), await a_project(db, "other")
    async with db.transaction() as tx:
        await store.remember(tx, shop, {ONE: 1})
        assert await store.belongs_to(tx, shop, ONE)
        assert not await store.belongs_to(tx, other, ONE)


async def test_remembering_again_is_no_error(db: Database) -> None:
    project = await a_project(db)
    async with db.transaction() as tx:
        for _ in range(2):
            await store.remember(tx, project, {ONE: 1, TWO: 2})
        assert await store.missing(tx, project, [ONE, TWO]) == ()


async def test_nothing_to_remember_is_no_error(db: Database) -> None:
    project = await a_project(db)
    async with db.transaction() as tx:
        await store.remember(tx, project, {})


async def test_two_who_bring_the_same_in_another_order_do_not_block_each_other_for_good(
    db: Database,
) -> None:
    project = await a_project(db)

    async def bring(sizes: dict[BlobKey, int]) -> None:
        async with db.transaction() as tx:
            await store.remember(tx, project, sizes)

    async with asyncio.TaskGroup() as group, db.transaction() as tx:
        await store.remember(tx, project, {ONE: 1})
        group.create_task(bring({TWO: 2, ONE: 1}))
        await someone_waits(db)
        await store.remember(tx, project, {TWO: 2})
    async with db.transaction() as tx:
        assert await store.missing(tx, project, [ONE, TWO]) == ()
