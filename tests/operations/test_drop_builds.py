"""Builds past the limits are deleted, and what the kept ones need stays."""

from pathlib import Path

import pytest

from storyshelf.builds.build import Build, BuildState
from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.drop_builds import choices_of, drop_builds, limits_of
from storyshelf.operations.retention import Choice, Fate, Limits
from storyshelf.projects.options import ProjectOptions
from storyshelf.review.decide import decide_all
from storyshelf.snapshots.decision import Decision
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import read, run, snapshots_of
from tests.builds.hand import Hand, a_hand
from tests.people import BEN

RED = {"a--one": "red", "b--two": "red"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path))


async def choices(hand: Hand, builds: int | None = None, days: int | None = None) -> list[Choice]:
    limits, now = Limits(builds, days), SystemClock().now()
    return list(await choices_of(hand.db, hand.project, limits, now))


async def numbers(hand: Hand) -> list[int]:
    return [row["number"] for row in await read(hand, "SELECT number FROM builds ORDER BY number")]


async def accepted(hand: Hand, colour: str, branch: str = "main") -> Build:
    """A build whose first story looks anew, which somebody has accepted."""
    build = await hand.run({**RED, "a--one": colour}, branch)
    await decide_all(hand.db, build.id, Decision.ACCEPTED, BEN)
    return build


async def test_the_oldest_go_and_the_next_build_finds_its_baselines(hand: Hand) -> None:
    for _ in range(5):
        await hand.run(RED)
    assert await drop_builds(hand.db, hand.kinds, hand.project, await choices(hand, 2)) == 3
    assert await numbers(hand) == [4, 5]
    assert (await hand.run(RED)).state is BuildState.PASSED


async def test_builds_that_change_something_each_time_do_not_keep_each_other(hand: Hand) -> None:
    await hand.run(RED)
    for number in range(6):
        await accepted(hand, f"colour {number}")
    await drop_builds(hand.db, hand.kinds, hand.project, await choices(hand, 2))
    assert await numbers(hand) == [5, 6, 7]  # 5 is shown as a baseline by 6
    unchanged = await hand.run({**RED, "a--one": "colour 5"})
    assert unchanged.state is BuildState.PASSED


async def test_a_picture_that_is_handed_on_outlives_its_limits(hand: Hand) -> None:
    await hand.run(RED)
    for _ in range(4):
        await hand.run({**RED, "a--one": "red~"})  # within the tolerance: build 1 is handed on
    chosen = await choices(hand, 1)
    assert {c.build.number: c.reason for c in chosen}[1] == "its pictures are needed by build 5"
    await drop_builds(hand.db, hand.kinds, hand.project, chosen)
    assert await numbers(hand) == [1, 5]
    (first, *_) = await read(hand, "SELECT id FROM snapshots WHERE story_id = 'a--one' ORDER BY id")
    rows = await snapshots_of(hand, await hand.run({**RED, "a--one": "blue"}))
    assert rows["a--one"]["baseline_snapshot_id"] == first["id"]


async def test_undecided_changes_wait_for_somebody(hand: Hand) -> None:
    await hand.run(RED)
    await hand.run({**RED, "a--one": "blue"}, "x")
    await hand.run(RED, "x")
    assert {c.fate for c in await choices(hand, 1)} == {Fate.KEEP}
    await run(hand, "UPDATE builds SET ended_at = ended_at - interval '31 days'")
    gone = [c.build.number for c in await choices(hand, 1) if c.fate is Fate.DROP]
    assert gone == [2]


async def test_a_build_that_is_used_anew_meanwhile_is_left(hand: Hand) -> None:
    for _ in range(3):
        await hand.run(RED)
    chosen = await choices(hand, 1)
    await run(hand, "UPDATE snapshots SET effective_snapshot_id = baseline_snapshot_id")
    assert await drop_builds(hand.db, hand.kinds, hand.project, chosen) == 0
    assert await numbers(hand) == [1, 2, 3]


def test_a_projects_own_limit_comes_first() -> None:
    own = ProjectOptions(keep_builds=3)
    assert limits_of(own, Limits(50, 90)) == Limits(3, 90)
    assert limits_of(ProjectOptions(), Limits(50)) == Limits(50)
