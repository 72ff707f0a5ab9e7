"""Results are written once, with their rule, in the transaction that proves the lease."""

from dataclasses import replace

from sqlalchemy import text

from storyshelf.builds.build import Build
from storyshelf.builds.record_results import ShardWork
from storyshelf.bundle.isolation import Isolation
from storyshelf.ids import SnapshotKey, StoryId
from storyshelf.queue.job import Completed, Lease
from storyshelf.snapshots import dependence_store
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.snapshot import (
    CaptureError,
    ConsoleLine,
    Notice,
    OrderDependence,
    Picture,
    Pixels,
    SnapshotResult,
    StoredMask,
    Verdict,
)
from storyshelf.storage import store as blob_rows
from tests.builds.facts import run, shards_of, snapshots_of, verdicts_of
from tests.builds.hand import CAPTURE_LANE, ENVIRONMENT, Hand, a_diff

LOOK = {"a--one": "red", "b--one": "blue"}
STORIES = sorted(LOOK)


async def claimed(hand: Hand) -> tuple[Build, Lease, ShardWork]:
    """A build whose one shard is being captured."""
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    lease = await hand.claim(CAPTURE_LANE)
    return build, lease, await hand.work_of(lease)


async def first_result(hand: Hand, work: ShardWork, shown: str = "red") -> SnapshotResult:
    return await hand.shot(work.snapshots[0], {work.snapshots[0].key.story_id: shown})


async def test_the_work_of_a_shard_is_what_it_still_has_planned_and_the_bundle(hand: Hand) -> None:
    _, _, work = await claimed(hand)
    assert [snapshot.key.story_id for snapshot in work.snapshots] == STORIES
    assert [file.path for file in work.files] == ["iframe.html", "index.json"]


async def test_a_snapshot_comes_with_the_picture_of_its_baseline(hand: Hand) -> None:
    first = await hand.run(LOOK)
    pictures = {s: row["image_key"] for s, row in (await snapshots_of(hand, first)).items()}
    _, _, work = await claimed(hand)
    assert {s.key.story_id: s.baseline_image for s in work.snapshots} == pictures


async def test_a_result_is_kept_whole(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    keys = [await hand.blobs.put(content) for content in (b"picture", b"mask", b"frame")]
    picture, frame = Picture(keys[0], 7, 30, 20), Picture(keys[2], 5, 30, 20)
    result = SnapshotResult(
        id=work.snapshots[0].id,
        verdict=Verdict.UNSTABLE,
        reason="It would not hold still.",
        pixels=Pixels.DIFFERENT,
        environment_id=ENVIRONMENT,
        duration_ms=123,
        picture=picture,
        diff=a_diff(),
        mask=StoredMask(keys[1], 4),
        frames=(picture, frame),
        error=CaptureError("unstable", "moved"),
        warnings=(Notice("slow", "It was slow."),),
        timings_ms={"load": 1.5},
        console=(ConsoleLine("error", "no data"),),
    )
    await hand.record(lease, work, [result])
    row = (await snapshots_of(hand, build))["a--one"]
    assert (row["verdict"], row["reason"]) == ("unstable", "It would not hold still.")
    assert (row["image_key"], row["width_px"], row["height_px"]) == (keys[0], 30, 20)
    assert (row["mask_key"], row["frames"]) == (keys[1], [keys[0], keys[2]])
    assert row["error"] == {"code": "unstable", "message": "moved", "stack": ""}
    assert row["warnings"] == [{"code": "slow", "text": "It was slow."}]
    assert row["console"] == [{"level": "error", "text": "no data"}]
    assert (row["timings_ms"], row["duration_ms"]) == ({"load": 1.5}, 123)


async def test_the_project_has_every_picture_that_was_recorded(hand: Hand) -> None:
    _, lease, work = await claimed(hand)
    result = await first_result(hand, work)
    await hand.record(lease, work, [result])
    assert result.picture is not None
    async with hand.db.transaction() as tx:
        assert await blob_rows.belongs_to(tx, hand.project.id, result.picture.key)


async def test_the_first_result_stays_whatever_comes_later(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    await hand.record(lease, work, [await first_result(hand, work)])
    before = await snapshots_of(hand, build)
    late = replace(await first_result(hand, work, "pink"), reason="late")
    await hand.record(lease, work, [late])
    assert await snapshots_of(hand, build) == before


async def test_the_rule_of_the_first_build_accepts_what_is_added(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    await hand.record(lease, work, [await first_result(hand, work)])
    row = (await snapshots_of(hand, build))["a--one"]
    assert (row["decision"], row["decided_by"]) == ("accepted", "rule: first build")
    assert row["effective_snapshot_id"] == row["id"]


async def test_the_rule_of_the_first_build_does_not_accept_a_fault(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    await hand.record(lease, work, [await first_result(hand, work, "!")])
    row = (await snapshots_of(hand, build))["a--one"]
    assert (row["verdict"], row["decision"], row["effective_snapshot_id"]) == (
        "errored",
        "none",
        None,
    )


async def test_what_is_added_later_waits_for_people(hand: Hand) -> None:
    await hand.run({"b--one": "blue"})
    build, lease, work = await claimed(hand)
    await hand.record(lease, work, [await first_result(hand, work)])
    row = (await snapshots_of(hand, build))["a--one"]
    assert (row["verdict"], row["decision"]) == ("added", "none")


async def test_a_result_lets_the_shard_have_all_its_rounds_again(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    await run(hand, "UPDATE shards SET rounds_without_result = 2")
    await hand.record(lease, work, [await first_result(hand, work)])
    assert [shard.rounds_without_result for shard in await shards_of(hand, build)] == [0]


async def test_no_result_is_no_progress(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    await run(hand, "UPDATE shards SET rounds_without_result = 2")
    await hand.record(lease, work, [])
    assert [shard.rounds_without_result for shard in await shards_of(hand, build)] == [2]


async def test_crashes_on_a_story_are_counted_until_it_has_a_result(hand: Hand) -> None:
    build, lease, work = await claimed(hand)
    for _ in range(2):
        async with hand.db.transaction() as tx:
            await snapshots.count_crash(tx, work.snapshots[0].id)
    assert [one.crashes for one in (await hand.work_of(lease)).snapshots] == [2, 0]
    await hand.record(lease, work, [await first_result(hand, work)])
    async with hand.db.transaction() as tx:
        await snapshots.count_crash(tx, work.snapshots[0].id)
    assert (await snapshots_of(hand, build))["a--one"]["crashes"] == 2
    assert (await verdicts_of(hand, build))["b--one"] is Verdict.PLANNED


async def test_what_the_plan_warned_of_stays_beside_what_the_capture_warns_of(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, {"a--one": {"delay": "soon"}})
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    slow = replace(await first_result(hand, work), warnings=(Notice("slow", "It was slow."),))
    await hand.record(lease, work, [slow])
    row = (await snapshots_of(hand, build))["a--one"]
    assert [warning["code"] for warning in row["warnings"]] == ["bad_parameter", "slow"]


async def test_a_story_seen_to_depend_on_others_twice_is_loaded_by_itself_for_a_while(
    hand: Hand,
) -> None:
    found = OrderDependence(StoryId("b--one"), ("class dark of html",))
    kept: list[Isolation] = []
    for _ in range(3):
        _, lease, work = await claimed(hand)
        kept.append(next(s.options.isolation for s in work.snapshots if s.key.story_id == "a--one"))
        shots = [await hand.shot(snapshot, LOOK) for snapshot in work.snapshots]
        results = [
            replace(shot, order_dependence=found) if snapshot.key.story_id == "a--one" else shot
            for shot, snapshot in zip(shots, work.snapshots, strict=True)
        ]
        await hand.record(lease, work, results)
        await hand.settle(lease, Completed(None), work.payload)
    assert kept == [Isolation.SHARED, Isolation.SHARED, Isolation.STRICT]
    async with hand.db.transaction() as tx:
        assert await dependence_store.proven(tx, hand.project.id) == {
            SnapshotKey(StoryId("a--one")): found
        }
        old = text("UPDATE order_dependences SET seen_at = now() - interval '31 days'")
        await tx.execute(old)
        assert await dependence_store.proven(tx, hand.project.id) == {}
