"""Projects as they are made, found and set."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from storyshelf.db.engine import Database, Tx
from storyshelf.ids import ProjectId
from storyshelf.projects import store
from storyshelf.projects.options import ProjectOptions
from storyshelf.projects.project import NoSuchProjectError, SlugTakenError
from storyshelf.queue import store as queue
from tests.queue.builders import a_job, enqueued, table


@pytest.fixture
async def tx(db: Database) -> AsyncIterator[Tx]:
    async with db.transaction() as tx:
        yield tx


async def test_a_project_is_found_by_its_slug_and_its_id(tx: Tx) -> None:
    made = await store.add(tx, "shop", "The Shop", "trunk")
    assert (made.name, made.default_branch) == ("The Shop", "trunk")
    assert await store.by_slug(tx, "shop") == made
    assert await store.by_id(tx, made.id) == made


async def test_a_slug_that_is_taken_is_refused_and_the_transaction_goes_on(tx: Tx) -> None:
    made = await store.add(tx, "shop", "Shop", "main")
    with pytest.raises(SlugTakenError, match="shop"):
        await store.add(tx, "shop", "Another", "main")
    assert await store.by_slug(tx, "shop") == made


async def test_a_slug_that_nobody_has_is_an_error_that_names_it(tx: Tx) -> None:
    with pytest.raises(NoSuchProjectError, match="nowhere"):
        await store.by_slug(tx, "nowhere")


async def test_a_new_project_has_the_usual_options(tx: Tx) -> None:
    assert (await store.add(tx, "shop", "Shop", "main")).options == ProjectOptions()


async def test_options_are_set_one_by_one(tx: Tx) -> None:
    made = await store.add(tx, "shop", "Shop", "main")
    await store.set_options(tx, made.id, {"diff_threshold": 0.2})
    await store.set_options(tx, made.id, {"cancels_older_builds": True})
    options = (await store.by_id(tx, made.id)).options
    assert options == ProjectOptions(cancels_older_builds=True, diff_threshold=0.2)


async def test_pages_of_projects_meet_without_gap_or_overlap(tx: Tx) -> None:
    for slug in ("b", "a", "c-1", "c"):
        await store.add(tx, slug, slug, "main")
    first = await store.page(tx, after_slug="", limit=2)
    rest = await store.page(tx, after_slug=first[-1].slug, limit=9)
    assert sorted(project.slug for project in [*first, *rest]) == ["a", "b", "c", "c-1"]
    assert [project.slug for project in first] == ["a", "b"]


async def test_build_numbers_are_given_out_once_each(db: Database) -> None:
    async with db.transaction() as tx:
        project = (await store.add(tx, "shop", "Shop", "main")).id
    async with asyncio.TaskGroup() as group:
        taking = [group.create_task(take_number(db, project)) for _ in range(8)]
    assert sorted(task.result() for task in taking) == list(range(1, 9))


async def take_number(db: Database, project: ProjectId) -> int:
    async with db.transaction() as tx:
        return await store.take_build_number(tx, project)


async def test_a_projects_share_of_the_slots_is_told_to_the_queue(db: Database) -> None:
    async with db.transaction() as tx:
        project = await store.add(tx, "shop", "Shop", "main")
        await store.set_options(tx, project.id, {"max_running": 2})
    await enqueued(db, *[a_job(project_id=project.id)] * 3)
    assert [row["state"] for row in await table(db, "jobs")] == ["parked"] * 3
    async with db.transaction() as tx:
        await store.set_options(tx, project.id, {"max_running": None})
        assert await queue.let_in_parked(tx) == 3
