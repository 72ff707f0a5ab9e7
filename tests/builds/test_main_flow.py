"""A build from its upload to its verdict, without processes and browsers."""

from storyshelf.builds import shard_store, store
from storyshelf.builds.build import BuildState
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.hand import Hand

LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue"}


async def verdicts(hand: Hand, number: int) -> dict[Verdict, int]:
    async with hand.db.transaction() as tx:
        build = await store.by_number(tx, hand.project, number)
        return dict((await snapshots.counts(tx, build.id, build.planned_generation)).verdicts)


async def test_the_first_build_is_accepted_by_its_rule(hand: Hand) -> None:
    build = await hand.run(LOOK)
    assert build.state is BuildState.ACCEPTED
    assert build.rule == "first build"


async def test_a_build_like_the_one_before_passes(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK)
    assert build.state is BuildState.PASSED
    assert await verdicts(hand, 2) == {Verdict.UNCHANGED: 3}


async def test_a_changed_story_leaves_the_build_pending(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"a--two": "violet"})
    assert build.state is BuildState.PENDING
    assert await verdicts(hand, 2) == {Verdict.UNCHANGED: 2, Verdict.CHANGED: 1}


async def test_a_change_that_nobody_accepted_is_reported_again(hand: Hand) -> None:
    await hand.run(LOOK)
    await hand.run(LOOK | {"a--two": "violet"})
    build = await hand.run(LOOK | {"a--two": "violet"})
    assert build.state is BuildState.PENDING


async def test_a_story_that_is_gone_is_removed(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run({"a--one": "red"})
    assert build.state is BuildState.PENDING
    assert await verdicts(hand, 2) == {Verdict.UNCHANGED: 1, Verdict.REMOVED: 2}


async def test_a_story_that_fails_makes_the_build_broken(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK | {"b--one": "!", "a--one": "pink"})
    assert build.state is BuildState.BROKEN
    assert await verdicts(hand, 2) == {
        Verdict.UNCHANGED: 1,
        Verdict.CHANGED: 1,
        Verdict.ERRORED: 1,
    }


async def test_ten_steps_within_the_tolerance_do_not_become_the_baseline(hand: Hand) -> None:
    build = await hand.run({"a--one": "red"})
    for step in range(10):
        build = await hand.run({"a--one": f"red{step}~"})
        assert build.state is BuildState.PASSED
    async with hand.db.transaction() as tx:
        first = await store.by_number(tx, hand.project, 1)
        (accepted,) = await snapshots.of_ancestor(tx, first.id, first.generation)
        (last,) = await snapshots.of_ancestor(tx, build.id, build.generation)
    assert last.effective_id == accepted.effective_id


async def test_another_branch_starts_from_the_default_one(hand: Hand) -> None:
    await hand.run(LOOK)
    build = await hand.run(LOOK, branch="feature")
    assert build.state is BuildState.PASSED


async def test_a_build_is_cut_into_shards_and_finalised_once(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK), shard_cost_ms=1_000)
    assert len(await hand.open_shards(build)) > 1
    await hand.capture(build, LOOK)
    assert (await hand.finalise(build)).state is BuildState.ACCEPTED
    async with hand.db.transaction() as tx:
        shards = await shard_store.of_build(tx, build.id, 1)
    assert {shard.state for shard in shards} == {shard_store.ShardState.DONE}
