"""Which build is compared with which, and how lists of builds are read."""

import pytest
from sqlalchemy import text

from storyshelf.builds import store
from storyshelf.builds.build import Build, BuildGoneError, BuildState, NoSuchBuildError
from storyshelf.builds.store import BuildFilter
from storyshelf.bundle.manifest import BundledFile
from storyshelf.ids import BuildId
from storyshelf.storage.blobs import key_of
from tests.builds.hand import Hand

LOOK = {"a--one": "red"}
STORIES = sorted(LOOK)


async def ancestor_of(hand: Hand, build: Build) -> int | None:
    async with hand.db.transaction() as tx:
        found = await store.ancestor_of(tx, build, "main")
    return None if found is None else found.number


async def test_the_first_build_has_no_ancestor(hand: Hand) -> None:
    assert await ancestor_of(hand, await hand.open(STORIES)) is None


async def test_the_ancestor_is_the_last_build_of_the_branch(hand: Hand) -> None:
    for _ in range(2):
        await hand.run(LOOK)
    assert await ancestor_of(hand, await hand.open(STORIES)) == 2


async def test_the_ancestor_goes_by_number_and_not_by_when_it_ended(hand: Hand) -> None:
    earlier = await hand.upload(STORIES)
    later = await hand.upload(STORIES)
    for build in (earlier, later):
        await hand.plan(build, STORIES)
    for build in (earlier, later):
        await hand.capture(build, LOOK)
    leases = [await hand.claim("build") for _ in range(2)]
    for lease in reversed(leases):
        await hand.end_finalise(lease)
    assert await ancestor_of(hand, await hand.open(STORIES)) == later.number


async def test_a_build_that_has_not_ended_is_no_ancestor(hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.plan(await hand.upload(STORIES), STORIES)
    assert await ancestor_of(hand, await hand.open(STORIES)) == 1


async def test_a_build_is_never_compared_with_a_later_one(hand: Hand) -> None:
    early = await hand.open(STORIES)
    await hand.run(LOOK)
    assert await ancestor_of(hand, early) is None


async def test_a_new_branch_starts_from_the_default_one(hand: Hand) -> None:
    await hand.run(LOOK)
    assert await ancestor_of(hand, await hand.open(STORIES, "feature")) == 1


async def test_a_branch_with_builds_of_its_own_keeps_to_them(hand: Hand) -> None:
    await hand.run(LOOK, "feature")
    await hand.run(LOOK, "main")
    assert await ancestor_of(hand, await hand.open(STORIES, "feature")) == 1


async def test_the_default_branch_is_not_compared_with_another(hand: Hand) -> None:
    await hand.run(LOOK, "feature")
    assert await ancestor_of(hand, await hand.open(STORIES, "main")) is None


async def numbers(hand: Hand, shown: BuildFilter, before: int | None = None) -> list[int]:
    async with hand.db.transaction() as tx:
        page = await store.page(tx, hand.project.id, shown, before=before, limit=2)
    return [build.number for build in page]


async def test_builds_are_listed_from_the_newest(hand: Hand) -> None:
    for _ in range(3):
        await hand.open(STORIES)
    assert await numbers(hand, BuildFilter()) == [3, 2]
    assert await numbers(hand, BuildFilter(), before=2) == [1]


async def test_a_list_may_be_of_one_branch_or_one_state(hand: Hand) -> None:
    await hand.open(STORIES, "feature")
    await hand.upload(STORIES)
    assert await numbers(hand, BuildFilter(branch="feature")) == [1]
    assert await numbers(hand, BuildFilter(state=BuildState.QUEUED)) == [2]


async def test_a_number_that_no_build_has_is_an_error_that_names_it(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        with pytest.raises(NoSuchBuildError, match="shop build 7"):
            await store.by_number(tx, hand.project, 7)


async def test_a_file_is_found_without_reading_its_manifest(hand: Hand) -> None:
    files = [BundledFile(f"{n}.js", key_of(b"%d" % n), n) for n in range(3_000)]
    build = await hand.open(STORIES)
    async with hand.db.transaction() as tx:
        await store.add_files(tx, build.id, files)
    before = await entries_read(hand)
    for file in files[:10]:
        async with hand.db.transaction() as tx:
            assert await store.file_size(tx, build.id, file.sha256) == file.size_bytes
    assert await entries_read(hand) - before <= 2 * 10


async def entries_read(hand: Hand) -> int:
    """Return how many index entries of manifests were read until now, by everybody."""
    async with hand.db.transaction() as tx:
        await tx.execute(text("SELECT pg_stat_force_next_flush()"))
    async with hand.db.transaction() as tx:
        read = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'bundle_files'"
        return int((await tx.execute(text(read))).scalar_one())


async def test_a_build_that_was_deleted_since_is_said_to_be_gone(hand: Hand) -> None:
    async with hand.db.transaction() as tx:
        with pytest.raises(BuildGoneError):
            await store.by_id(tx, BuildId(404))
