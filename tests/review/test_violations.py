"""Violations from a capture's result to what people see, decide and hand on."""

from dataclasses import replace

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.jobs import parse_capture
from storyshelf.queue.job import Completed
from storyshelf.review import read
from storyshelf.review.decide import decide_all
from storyshelf.snapshots import store as snapshots
from storyshelf.snapshots.counts import Violations
from storyshelf.snapshots.decision import Decision
from storyshelf.snapshots.snapshot import Verdict
from storyshelf.snapshots.violations import Findings, Place, Violation, all_new, compare
from tests.builds.facts import snapshots_of
from tests.builds.hand import CAPTURE_LANE, Hand
from tests.people import BEN

STORY = "a--one"
LOOK = {STORY: "red", "b--one": "blue"}


def breaking(*targets: str) -> Findings:
    places = tuple(Place(target, f"<{target}>", "Fix it") for target in targets)
    violation = Violation("label", "serious", "Help", "https://x.test", places)
    return Findings("axe", "4.14.1", (violation,) if places else ())


async def run(hand: Hand, found: Findings, *, blocks: bool = True) -> Build:
    """Take a build to its verdict, as a consumer would where new violations block."""
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    lease = await hand.claim(CAPTURE_LANE)
    work = await hand.work_of(lease)
    results = []
    for one in work.snapshots:
        made = await hand.shot(one, LOOK)
        if one.key.story_id == STORY:
            before = one.baseline_findings
            standing = compare(before, found) if one.baseline_id else all_new(found)
            made = replace(made, findings=found, standing=standing)
            if blocks and standing and standing.new and made.verdict is Verdict.UNCHANGED:
                made = replace(made, verdict=Verdict.CHANGED)
        results.append(made)
    await hand.record(lease, work, results)
    await hand.settle(lease, Completed(None), parse_capture(lease.payload))
    return await hand.finalise(build)


async def standing(hand: Hand, build: Build) -> tuple[list[str], list[str], list[str]]:
    """Return the places of what is new, still there and fixed, as the snapshot's page has them."""
    row = (await snapshots_of(hand, build))[STORY]
    async with hand.db.transaction() as tx:
        view = await read.examined_of(tx, row["id"])
    assert view is not None
    assert view.standing is not None
    sides = (view.standing.new, view.standing.still, view.standing.fixed)
    new, still, fixed = ([each.place.target for each in side] for side in sides)
    return new, still, fixed


async def counted(hand: Hand, build: Build) -> Violations | None:
    async with hand.db.transaction() as tx:
        return (await snapshots.counts(tx, build.id, build.planned_generation)).violations


async def test_what_blocks_waits_for_a_decision_and_is_the_baseline_once_accepted(
    hand: Hand,
) -> None:
    first = await run(hand, breaking("old"))
    assert (first.state, await counted(hand, first)) == (BuildState.ACCEPTED, Violations(1, 1, 0))
    second = await run(hand, breaking("old", "new"))
    assert (second.state, await counted(hand, second)) == (BuildState.PENDING, Violations(2, 1, 0))
    assert await standing(hand, second) == (["new"], ["old"], [])
    # Undecided, it is no baseline: the next build has it new again.
    third = await run(hand, breaking("old", "new"))
    assert await standing(hand, third) == (["new"], ["old"], [])
    assert (await decide_all(hand.db, third.id, Decision.ACCEPTED, BEN)).number == 1
    fourth = await run(hand, breaking("new"))
    assert (fourth.state, await counted(hand, fourth)) == (BuildState.PASSED, Violations(1, 0, 1))
    assert await standing(hand, fourth) == ([], ["new"], ["old"])
    fifth = await run(hand, breaking("new"))
    assert await standing(hand, fifth) == ([], ["new"], [])


async def test_what_does_not_block_is_handed_on_with_its_picture(hand: Hand) -> None:
    await run(hand, breaking(), blocks=False)
    second = await run(hand, breaking("new"), blocks=False)
    assert (second.state, await counted(hand, second)) == (BuildState.PASSED, Violations(1, 1, 0))
    third = await run(hand, breaking("new"), blocks=False)
    assert await counted(hand, third) == Violations(1, 0, 0)


async def test_nothing_is_said_where_nobody_looked(hand: Hand) -> None:
    build = await hand.run(LOOK)
    assert await counted(hand, build) is None
    async with hand.db.transaction() as tx:
        assert await read.examined_of(tx, (await snapshots_of(hand, build))[STORY]["id"]) is None
    failed = replace(breaking(), problem="axe took too long")
    second = await run(hand, failed)
    assert (second.state, await counted(hand, second)) == (BuildState.PASSED, None)
