"""A branch whose changes are accepted by themselves, as the project's options say."""

from storyshelf.builds.build import BuildState
from storyshelf.projects import store as projects
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand

RULE = "rule: accepted branch"


async def accept(hand: Hand, *globs: str) -> None:
    async with hand.db.transaction() as tx:
        await projects.set_options(tx, hand.project.id, {"accepts_branches": list(globs)})


async def test_what_changed_is_accepted_when_it_is_captured(hand: Hand) -> None:
    await hand.run({"a--one": "red", "b--one": "blue"})
    await accept(hand, "ma*")
    build = await hand.run({"a--one": "green", "c--one": "new"})
    assert (build.state, build.rule) == (BuildState.ACCEPTED, "accepted branch")
    rows = await snapshots_of(hand, build)
    assert {story: row["verdict"] for story, row in rows.items()} == {
        "a--one": Verdict.CHANGED,
        "b--one": Verdict.REMOVED,
        "c--one": Verdict.ADDED,
    }
    assert {(row["decision"], row["decided_by"]) for row in rows.values()} == {("accepted", RULE)}
    assert all(row["decided_at"] is not None for row in rows.values())


async def test_it_hands_on_what_it_accepted(hand: Hand) -> None:
    await hand.run({"a--one": "red", "b--one": "blue"})
    await accept(hand, "main")
    await hand.run({"a--one": "green"})
    await accept(hand)
    after = await hand.run({"a--one": "green"})
    assert after.state is BuildState.PASSED
    assert set(await snapshots_of(hand, after)) == {"a--one"}  # the removal is handed on too


async def test_another_branch_waits_for_people(hand: Hand) -> None:
    await hand.run({"a--one": "red", "b--one": "blue"})
    await accept(hand, "main")
    build = await hand.run({"a--one": "green"}, branch="feature/x")
    assert (build.state, build.rule) == (BuildState.PENDING, None)
    rows = await snapshots_of(hand, build)
    assert {row["decision"] for row in rows.values()} == {"none"}
    assert rows["b--one"]["effective_snapshot_id"] == rows["b--one"]["baseline_snapshot_id"]


async def test_what_could_not_be_rendered_is_never_accepted(hand: Hand) -> None:
    await hand.run({"a--one": "red", "b--one": "blue"})
    await accept(hand, "main")
    build = await hand.run({"a--one": "!", "b--one": "green"})
    assert build.state is BuildState.BROKEN
    rows = await snapshots_of(hand, build)
    assert (rows["a--one"]["decision"], rows["b--one"]["decision"]) == ("none", "accepted")
    assert rows["a--one"]["effective_snapshot_id"] == rows["a--one"]["baseline_snapshot_id"]


async def test_what_is_equal_needs_no_rule(hand: Hand) -> None:
    await hand.run({"a--one": "red"})
    await accept(hand, "main")
    build = await hand.run({"a--one": "red"})
    assert build.state is BuildState.PASSED
    assert (await snapshots_of(hand, build))["a--one"]["decided_by"] is None
