"""A project is deleted with everything of it, whatever cuts that off."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storyshelf.auth import store as auth
from storyshelf.auth.store import TokenUse
from storyshelf.auth.tokens import UnknownTokenError, mint
from storyshelf.builds import intake
from storyshelf.builds.build import BuildGoneError
from storyshelf.builds.store import NewBuild
from storyshelf.bundle.manifest import Manifest
from storyshelf.db.engine import Database
from storyshelf.operations.delete_project import delete_project, finish_deletions
from storyshelf.projects import store as projects
from storyshelf.projects.project import NoSuchProjectError
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import read
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand

STORIES = ["a--one", "b--two"]
RED = dict.fromkeys(STORIES, "red")
BLUE = {**RED, "a--one": "blue"}
KEPT = {"alembic_version", "audit_events", "blobs", "environments"}
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def full_tables(hand: Hand) -> set[str]:
    names = {row["tablename"] for row in await read(hand, TABLES)}
    return {name for name in names if await read(hand, f"SELECT 1 FROM {name} LIMIT 1")}


async def busy(hand: Hand) -> None:
    """Two builds that end, one that is being captured, one that is being uploaded; a token."""
    await hand.run(RED)
    await hand.run(BLUE)
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await hand.claim(CAPTURE_LANE)
    await hand.open(STORIES)
    async with hand.db.transaction() as tx:
        await auth.add_token(tx, hand.project.id, TokenUse("ci"), mint(b"s" * 32))


async def test_nothing_of_the_project_is_left_but_what_was_audited(hand: Hand) -> None:
    await busy(hand)
    await delete_project(hand.db, hand.kinds, hand.project, "Ada")
    assert await full_tables(hand) == KEPT
    told = await read(hand, "SELECT detail FROM audit_events WHERE action = 'project.delete'")
    assert [row["detail"]["slug"] for row in told] == ["shop"]


async def test_another_project_keeps_all_it_has(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        other = await projects.add(tx, "other", "Other", "main")
    theirs = Hand(hand.db, hand.blobs, other)
    build = await theirs.run(RED)
    await busy(hand)
    await delete_project(hand.db, hand.kinds, hand.project, "Ada")
    assert (await theirs.fresh(build)).project_id == other.id
    assert (await theirs.run(BLUE)).ancestor_build_id == build.id


async def test_its_slug_is_free_again(hand: Hand) -> None:
    await hand.run(RED)
    await delete_project(hand.db, hand.kinds, hand.project, "Ada")
    async with hand.db.transaction() as tx:
        assert (await projects.add(tx, "shop", "Shop", "main")).id != hand.project.id


async def begin(hand: Hand) -> None:
    """What is done when the process is killed right after the first step."""
    async with hand.db.transaction() as tx:
        await projects.begin_deleting(tx, hand.project.id)


async def test_nobody_sees_it_while_it_is_deleted(hand: Hand) -> None:
    token = mint(b"s" * 32)
    async with hand.db.transaction() as tx:
        await auth.add_token(tx, hand.project.id, TokenUse("ci"), token)
    await begin(hand)
    async with hand.db.transaction() as tx:
        assert await projects.page(tx, after_slug="", limit=10) == []
        with pytest.raises(NoSuchProjectError):
            await projects.by_slug(tx, "shop")
        with pytest.raises(UnknownTokenError):
            await auth.caller_of(tx, token.secret_hash)


async def test_no_build_is_opened_in_it_any_more(hand: Hand) -> None:
    manifest = Manifest(tuple(await hand.files_of(STORIES)))
    await begin(hand)
    with pytest.raises(NoSuchProjectError):
        await intake.open_build(hand.db, hand.project, NewBuild("key-1", "main", "c0"), manifest)


async def test_a_deletion_that_was_cut_off_is_finished_by_the_housekeeping(hand: Hand) -> None:
    await busy(hand)
    await begin(hand)
    await finish_deletions(hand.db, hand.kinds)
    assert await full_tables(hand) == KEPT
    await finish_deletions(hand.db, hand.kinds)


async def test_deleting_it_twice_tells_the_second_that_it_is_gone(hand: Hand) -> None:
    await delete_project(hand.db, hand.kinds, hand.project, "Ada")
    with pytest.raises(NoSuchProjectError):
        await delete_project(hand.db, hand.kinds, hand.project, "Ada")


async def test_a_file_that_is_on_its_way_into_a_deleted_project_is_refused(hand: Hand) -> None:
    build = await hand.open(STORIES)
    content = b"<html></html>"

    async def chunks() -> AsyncIterator[bytes]:
        await delete_project(hand.db, hand.kinds, hand.project, "Ada")
        yield content

    with pytest.raises(BuildGoneError):
        await intake.receive_file(hand.db, hand.blobs, build, key_of(content), chunks())
