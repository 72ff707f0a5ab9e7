"""The order of review: what a choice leaves in, what lies around a snapshot, what waits next."""

import pytest

from storyshelf.builds.build import Build
from storyshelf.db.engine import Tx
from storyshelf.ids import SnapshotId
from storyshelf.review import strip
from storyshelf.review.decide import Seen, decide
from storyshelf.snapshots.among import Among
from storyshelf.snapshots.decision import Decision, NoSuchSnapshotError
from storyshelf.snapshots.snapshot import Verdict
from tests.builds.facts import snapshots_of
from tests.builds.hand import Hand
from tests.people import ADA, BEN

LOOK = {"a--one": "red", "a--two": "green", "b--one": "blue", "b--two": "grey", "d--gone": "old"}
NEXT = {"a--one": "red", "a--two": "violet", "b--one": "!", "b--two": "pink", "c--new": "white"}
REVIEWED = ["a--two", "b--two", "c--new", "d--gone", "b--one", "a--one"]


@pytest.fixture
async def build(hand: Hand) -> Build:
    """Two changed, one added, removed, errored and unchanged."""
    await hand.run(LOOK)
    return await hand.run(NEXT)


async def ids_of(hand: Hand, build: Build) -> dict[str, SnapshotId]:
    rows = await snapshots_of(hand, build)
    return {story: SnapshotId(row["id"]) for story, row in rows.items()}


async def accept(hand: Hand, build: Build, *stories: str) -> None:
    ids = await ids_of(hand, build)
    seen = [Seen(ids[story], Decision.NONE) for story in stories]
    await decide(hand.db, build.id, seen, Decision.ACCEPTED, ADA)


async def stories_among(tx: Tx, build: Build, among: Among) -> list[str]:
    return [one.story_id for one in await strip.first_of_each_verdict(tx, build, among, 9)]


async def test_what_needs_a_person_comes_first(hand: Hand, build: Build) -> None:
    async with hand.db.transaction() as tx:
        assert await stories_among(tx, build, Among()) == REVIEWED


@pytest.mark.parametrize(
    ("among", "stories"),
    [
        (Among(verdict=Verdict.CHANGED), ["a--two", "b--two"]),
        (Among(text="TWO"), ["a--two", "b--two"]),
        (Among(text="a--two a--TWO"), ["a--two"]),
        (Among(text="_--"), []),  # signs of LIKE are only signs
        (Among(component="b--one"), ["b--one"]),
        (Among(decision=Decision.ACCEPTED), ["b--two"]),
        (Among(decision=Decision.NONE), ["a--two", "c--new", "d--gone"]),
        (Among(Verdict.CHANGED, Decision.NONE, "a"), ["a--two"]),
    ],
)
async def test_a_choice_leaves_in(
    hand: Hand, build: Build, among: Among, stories: list[str]
) -> None:
    await accept(hand, build, "b--two")
    async with hand.db.transaction() as tx:
        assert await stories_among(tx, build, among) == stories
        assert [one.story_id for one in await strip.page(tx, build, among, 9)] == sorted(stories)


async def test_a_choice_is_counted_with_what_waits_of_it(hand: Hand, build: Build) -> None:
    await accept(hand, build, "b--two")
    async with hand.db.transaction() as tx:
        counts = await strip.counts(tx, build, Among(text="b--"))
    assert counts == {Verdict.CHANGED: strip.Shown(1, 0), Verdict.ERRORED: strip.Shown(1, 0)}
    assert list(counts) == [Verdict.CHANGED, Verdict.ERRORED]


async def test_what_lies_around_a_snapshot(hand: Hand, build: Build) -> None:
    ids = await ids_of(hand, build)
    async with hand.db.transaction() as tx:
        window = await strip.around(tx, build, Among(), ids["c--new"], each_side=2)
        first = await strip.around(tx, build, Among(), ids["a--two"], each_side=2)
        last = await strip.around(tx, build, Among(), ids["a--one"], each_side=2)
    assert [one.story_id for one in window.snapshots] == REVIEWED[:5]
    assert window.at == 2
    assert window.previous is not None
    assert (window.previous.story_id, first.previous) == ("b--two", None)
    assert window.next is not None
    assert (window.next.story_id, last.next) == ("d--gone", None)


async def test_a_snapshot_that_a_choice_leaves_out_keeps_its_place(
    hand: Hand, build: Build
) -> None:
    ids = await ids_of(hand, build)
    async with hand.db.transaction() as tx:
        window = await strip.around(tx, build, Among(text="two"), ids["b--one"], each_side=9)
    assert [one.story_id for one in window.snapshots] == ["a--two", "b--two", "b--one"]


async def test_a_snapshot_of_another_build_has_no_place_here(hand: Hand, build: Build) -> None:
    other = await ids_of(hand, await hand.run(LOOK))
    async with hand.db.transaction() as tx:
        with pytest.raises(NoSuchSnapshotError):
            await strip.around(tx, build, Among(), other["a--one"], each_side=2)


async def test_what_waits_next_goes_round_until_nothing_waits(hand: Hand, build: Build) -> None:
    ids = await ids_of(hand, build)
    names = {snapshot_id: story for story, snapshot_id in ids.items()}
    here, seen = ids["c--new"], []
    while True:
        await accept(hand, build, names[here])
        async with hand.db.transaction() as tx:
            waits = await strip.next_undecided(tx, build, here)
        if waits is None:
            break
        here = waits
        seen.append(names[here])
    assert seen == ["d--gone", "a--two", "b--two"]


async def test_what_waits_next_can_be_of_a_choice(hand: Hand, build: Build) -> None:
    ids = await ids_of(hand, build)
    async with hand.db.transaction() as tx:
        waits = await strip.next_undecided(tx, build, ids["b--two"], Among(Verdict.CHANGED))
        assert waits == ids["a--two"]
        assert await strip.next_undecided(tx, build, ids["c--new"], Among(Verdict.ADDED)) is None


async def test_the_last_decision_is_ones_own_and_counts_what_still_stands(
    hand: Hand, build: Build
) -> None:
    await accept(hand, build, "a--two", "b--two")
    await accept(hand, build, "c--new")
    async with hand.db.transaction() as tx:
        last = await strip.last_taken(tx, build, ADA.actor)
        assert last is not None
        assert (last.decision, last.number) == (Decision.ACCEPTED, 1)
        assert await strip.last_taken(tx, build, BEN.actor) is None
