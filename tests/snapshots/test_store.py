"""Rows of snapshots: counted over builds at once, and written with verdicts that may be."""

from dataclasses import replace
from pathlib import Path

import pytest

from storyshelf.db.engine import Database
from storyshelf.ids import ShardId, SnapshotKey, StoryId
from storyshelf.snapshots import store
from storyshelf.snapshots.snapshot import FIRST_VERDICTS, NEXT_VERDICTS, CaptureOptions, Verdict
from storyshelf.snapshots.store import NewSnapshot
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import snapshots_of
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)
A_ROW = NewSnapshot(
    key=SnapshotKey(StoryId("z--new")),
    title="Z",
    name="New",
    import_path="./z.js",
    options=CaptureOptions(),
    verdict=Verdict.SKIPPED,
    reason="Told so.",
    baseline_id=None,
    baseline_reason="None.",
)


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


@pytest.mark.parametrize("verdict", sorted(FIRST_VERDICTS))
async def test_planning_writes_the_verdicts_that_come_first(hand: Hand, verdict: Verdict) -> None:
    build = await hand.run(LOOK)
    async with hand.db.transaction() as tx:
        await store.add(tx, (build.id, 1), [replace(A_ROW, verdict=verdict)], {}, {})
    assert (await snapshots_of(hand, build))["z--new"]["verdict"] == verdict


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - FIRST_VERDICTS))
async def test_planning_writes_no_verdict_of_a_capture(hand: Hand, verdict: Verdict) -> None:
    build = await hand.run(LOOK)
    async with hand.db.transaction() as tx:
        with pytest.raises(AssertionError, match="no captured verdict"):
            await store.add(tx, (build.id, 1), [replace(A_ROW, verdict=verdict)], {}, {})


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - NEXT_VERDICTS[Verdict.PLANNED]))
async def test_a_capture_writes_no_verdict_of_planning(hand: Hand, verdict: Verdict) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    work = await hand.work_of(await hand.claim(CAPTURE_LANE))
    result = replace(await hand.shot(work.snapshots[0], LOOK), verdict=verdict)
    async with hand.db.transaction() as tx:
        with pytest.raises(AssertionError, match="a capture ends in one of"):
            await store.write_results(tx, [result], {})


async def test_builds_are_counted_together_each_in_its_own_generation(hand: Hand) -> None:
    first = await hand.run(LOOK)
    second = await hand.run(LOOK | {"a--one": "pink"})
    unplanned = await hand.open(STORIES)
    async with hand.db.transaction() as tx:
        counts = await store.counts_of(tx, {first.id: 1, second.id: 1, unplanned.id: None})
    assert counts[first.id].verdicts == {Verdict.ADDED: 2}
    assert (counts[first.id].accepted, counts[first.id].undecided) == (2, 0)
    assert counts[second.id].verdicts == {Verdict.CHANGED: 1, Verdict.UNCHANGED: 1}
    assert (counts[second.id].accepted, counts[second.id].undecided) == (0, 1)
    assert counts[unplanned.id].total == 0


async def test_a_shard_with_nothing_left_is_not_among_the_counted(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await hand.capture_one(LOOK)
    async with hand.db.transaction() as tx:
        left = await store.planned_counts(tx, [ShardId(1), ShardId(2)])
    assert sorted(left.values()) == [1]
