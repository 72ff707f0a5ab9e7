"""What pages read of a build, in few statements."""

from pathlib import Path

import pytest

from storyshelf.builds import store
from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.db.engine import Database
from storyshelf.review import read, strip
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.storage.local import LocalBlobs
from tests.builds.hand import Hand, a_hand

LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def test_a_build_is_shown_with_its_counts_and_its_ancestor(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--two": "violet"})
    async with hand.db.transaction() as tx:
        view = await read.build_view(tx, build)
    assert view.ancestor_number == 1
    assert (view.progress.done, view.progress.total) == (3, 3)
    assert view.counts.undecided == 1


async def test_a_snapshot_shows_the_baseline_and_the_build_it_is_from(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--two": "violet"})
    async with hand.db.transaction() as tx:
        (snapshot,) = await strip.page(tx, build, Among(Verdict.CHANGED), limit=10)
        assert await read.snapshot_view(tx, build, snapshot.id) == snapshot
    assert snapshot.baseline is not None
    assert snapshot.baseline.build_number == 1
    assert snapshot.baseline.image != snapshot.image


async def test_pages_of_snapshots_meet_without_gap_or_overlap(hand: Hand) -> None:
    build = await hand.run(LOOK)
    async with hand.db.transaction() as tx:
        first = await strip.page(tx, build, Among(), limit=2)
        after = strip.Place(first[-1].title, first[-1].id)
        rest = await strip.page(tx, build, Among(), limit=2, after=after)
    assert [snapshot.story_id for snapshot in [*first, *rest]] == sorted(LOOK)


async def test_builds_are_read_in_as_many_statements_as_one(hand: Hand) -> None:
    for _ in range(3):
        await hand.run({"a--one": "red"})
    async with hand.db.transaction() as tx:
        builds = await store.page(tx, hand.project.id, store.BuildFilter(), before=None, limit=9)
        views = await read.build_views(tx, builds)
    assert [view.build.number for view in views] == [3, 2, 1]
    assert [view.ancestor_number for view in views] == [2, 1, None]


async def test_what_a_cancelled_build_left_says_that_it_was_never_captured(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("Ada", "a newer one is there"))
    build = await hand.fresh(build)
    async with hand.db.transaction() as tx:
        left = await strip.page(tx, build, Among(), limit=9)
    assert {snapshot.reason for snapshot in left} == {read.NEVER_CAPTURED}
