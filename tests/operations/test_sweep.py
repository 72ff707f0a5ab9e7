"""Blobs that nobody names are swept, however uploads and captures come in between."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storyshelf.builds import intake
from storyshelf.db.engine import Database
from storyshelf.ids import BlobKey
from storyshelf.operations.delete_build import Deletion, delete_build
from storyshelf.operations.sweep import FIRST, alone, sweep, would_sweep
from storyshelf.storage import store
from storyshelf.storage.blobs import key_of
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.local_sweep import Freed, LocalSweeper
from tests.builds.facts import read, run
from tests.builds.hand import Hand, a_hand
from tests.operations.house import a_day_passes, before, files_in, names_in, swept
from tests.storage.here import is_here

STORIES = ["a--one", "b--two"]
RED = dict.fromkeys(STORIES, "red")
CONTENT = b"a picture that nobody names"
KEY = key_of(CONTENT)
WHY = Deletion("Ada", "too many")


@dataclass
class House:
    """A project in a database, and the folder of its blobs."""

    hand: Hand
    folder: Path
    sweeper: LocalSweeper = field(init=False)

    def __post_init__(self) -> None:
        self.sweeper = LocalSweeper(self.folder)

    @property
    def db(self) -> Database:
        return self.hand.db

    async def bring(self, content: bytes = CONTENT) -> BlobKey:
        """Store a content as a capture does; nothing names it."""
        key = await self.hand.blobs.put(content)
        async with self.db.transaction() as tx:
            await store.remember(tx, self.hand.project.id, {key: len(content)})
        return key

    async def a_day_passes(self) -> None:
        await a_day_passes(self.hand, self.folder)

    async def sweep(self) -> Freed:
        return await swept(self.db, self.sweeper)

    async def keys(self) -> set[str]:
        return {row["key"] for row in await read(self.hand, "SELECT key FROM blobs")}

    async def has(self, key: BlobKey) -> bool:
        """Whether the content is here, with its row; one without the other fails."""
        is_known = key in await self.keys()
        assert await is_here(self.hand.blobs, key) is is_known
        return is_known


@pytest.fixture
async def house(db: Database, tmp_path: Path) -> House:
    return House(await a_hand(db, LocalBlobs(tmp_path)), tmp_path)


async def test_what_nobody_names_goes_with_row_and_file(house: House) -> None:
    await house.bring()
    await house.a_day_passes()
    assert await house.sweep() == Freed(1, len(CONTENT))
    assert not await house.has(KEY)
    assert await read(house.hand, "SELECT key FROM project_blobs") == []
    assert files_in(house.folder) == []


async def test_what_is_younger_than_the_grace_stays(house: House) -> None:
    await house.bring()
    assert await house.sweep() == Freed()
    assert await house.has(KEY)


async def test_what_builds_name_stays(house: House) -> None:
    await house.hand.run(RED)
    kept = await house.keys()
    await house.a_day_passes()
    assert await house.sweep() == Freed()
    assert (await house.keys(), names_in(house.folder)) == (kept, kept)


@pytest.mark.parametrize("column", ["image_key = :key", "mask_key = :key", "frames = ARRAY[:key]"])
async def test_pictures_masks_and_frames_of_snapshots_stay(house: House, column: str) -> None:
    await house.hand.run(RED)
    key = await house.bring()
    await run(house.hand, f"UPDATE snapshots SET {column}", key=key)
    await house.a_day_passes()
    await house.sweep()
    assert await house.has(KEY)


async def test_what_a_manifest_names_stays_though_the_upload_goes_on_for_days(
    house: House,
) -> None:
    await house.hand.run(RED)
    build = await house.hand.open(STORIES)
    await house.a_day_passes()
    await house.sweep()
    assert (await intake.seal(house.db, house.hand.blobs, build)).sealed_at is not None


async def test_what_only_a_deleted_build_named_goes(house: House) -> None:
    build = await house.hand.run(RED)
    await delete_build(house.db, house.hand.kinds, build, WHY)
    await house.a_day_passes()
    assert (await house.sweep()).blobs == 3  # a picture, and the two files of the bundle
    assert files_in(house.folder) == []


async def test_a_dry_run_says_the_same_and_changes_nothing(house: House) -> None:
    await house.bring()
    await house.hand.blobs.put(b"without a row")
    await house.a_day_passes()
    said = [freed async for freed in would_sweep(house.db, house.sweeper, before())]
    assert await house.has(KEY)
    assert sum(said, start=Freed()) == await house.sweep()


async def test_files_without_a_row_go_by_their_age(house: House) -> None:
    await house.hand.blobs.put(CONTENT)  # its process was killed before it wrote the row
    await house.sweep()
    assert names_in(house.folder) == {KEY}
    await house.a_day_passes()
    assert await house.sweep() == Freed(1, len(CONTENT))
    assert files_in(house.folder) == []


async def test_more_than_a_page_is_swept(house: House) -> None:
    for number in range(5):
        await house.bring(str(number).encode())
    await house.a_day_passes()
    blobs = LocalSweeper(house.folder)
    steps = [freed.blobs async for freed in sweep(house.db, blobs, before(), page_size=2)]
    assert [blobs for blobs in steps if blobs] == [2, 2, 1]
    assert (
        len(steps) > 256
    )  # each folder of the storage is a step, whether it holds anything or not


async def test_content_that_is_stored_again_is_kept_whenever_that_happens(house: House) -> None:
    """At each step of a sweep in turn, somebody stores the same picture anew."""
    for step in range(6):
        await house.bring()
        await house.a_day_passes()
        between = BroughtBetween(house, step)
        [_ async for _ in sweep(house.db, between, before())]
        assert between.steps > step, "the sweep has as many steps"
        assert await house.has(KEY), f"at step {step}"


@dataclass
class BroughtBetween:
    """A storage on whose every step, numbered from 0, the content may come again."""

    house: House
    step: int
    steps: int = 0

    async def _pass(self) -> None:
        if self.steps == self.step:
            await self.house.bring()
        self.steps += 1

    async def end_unfinished(self, since: object) -> None:
        await self._pass()

    async def remove_untouched(self, keys: object, since: object) -> Freed:
        await self._pass()
        freed = await self.house.sweeper.remove_untouched(keys, since)  # type: ignore[arg-type]
        await self._pass()
        return freed

    async def untouched(self, since: object) -> AsyncIterator[Mapping[BlobKey, int]]:
        await self._pass()
        async for sizes in self.house.sweeper.untouched(since):  # type: ignore[arg-type]
            yield sizes


async def test_a_blob_that_somebody_is_about_to_name_is_not_waited_for(house: House) -> None:
    await house.bring()
    await house.a_day_passes()
    async with house.db.transaction() as tx:
        await house.hand.blobs.put(CONTENT)
        await store.remember(tx, house.hand.project.id, {KEY: len(CONTENT)})
        assert await house.sweep() == Freed()
    assert await house.has(KEY)


async def test_a_blob_that_was_named_after_the_look_is_not_taken(house: House) -> None:
    await house.bring()
    await house.a_day_passes()
    async with house.db.transaction() as tx:
        page = await store.unused(tx, FIRST, before(), 10)
        await house.bring()
        assert list(page.sizes) == [KEY]
        assert await store.take_unused(tx, page.sizes, before()) == []


async def test_who_names_a_blob_that_is_just_taken_writes_it_anew(house: House) -> None:
    await house.bring()
    await house.a_day_passes()
    async with asyncio.TaskGroup() as group:
        async with house.db.transaction() as tx:
            assert await store.take_unused(tx, [KEY], before()) == [KEY]
            bringing = group.create_task(house.bring())
        await bringing
    await house.sweeper.remove_untouched([KEY], before())
    assert await house.has(KEY)


async def test_an_upload_that_opens_beside_a_sweep_hears_what_is_missing(house: House) -> None:
    """What the sweep takes is asked for; what the upload was told is here stays."""
    await house.hand.run(RED)
    await run(house.hand, "DELETE FROM snapshots")
    await run(house.hand, "DELETE FROM bundle_files")
    await house.a_day_passes()
    async with house.db.transaction() as tx:
        page = await store.unused(tx, FIRST, before(), 10)
        build = await house.hand.open(STORIES)  # told that nothing is missing
        taken = await store.take_unused(tx, page.sizes, before())
    files = {file.sha256 for file in await house.hand.files_of(STORIES)}
    assert files.isdisjoint(taken)
    assert (await intake.seal(house.db, house.hand.blobs, build)).sealed_at is not None


async def test_one_sweeps_at_a_time(house: House) -> None:
    async with alone(house.db) as ours:
        assert ours is not None
        async with alone(house.db) as theirs:
            assert theirs is None
    async with alone(house.db) as later:
        assert later is not None


async def test_two_sweeps_at_once_do_no_harm(house: House) -> None:
    await house.hand.run(RED)
    kept = await house.keys()
    await house.bring()
    await house.a_day_passes()
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(house.sweep())
    assert (await house.keys(), names_in(house.folder)) == (kept, kept)
