"""A skipped build: a verdict without pictures, said once."""

from dataclasses import replace

import pytest

from storyshelf.builds.build import Build, BuildState
from storyshelf.builds.skip_build import Skip, Skipped, skip_build
from storyshelf.builds.store import NewBuild
from tests.builds.facts import actions_of, live_jobs
from tests.builds.hand import Hand

NEW = NewBuild("", "main", "c0ffee", pull_request=7)
WHY = Skip("ci", "only texts changed")


async def skipped(hand: Hand, new: NewBuild = NEW, why: Skip = WHY) -> Skipped:
    return await skip_build(hand.db, hand.project, new, why)


async def test_a_skipped_build_has_ended_with_its_reason(hand: Hand) -> None:
    build = (await skipped(hand)).build
    assert (build.state, build.state_reason) == (BuildState.SKIPPED, "only texts changed")
    assert (build.commit, build.branch, build.pull_request) == ("c0ffee", "main", 7)
    assert build.ended_at is not None
    assert await live_jobs(hand, build) == []
    assert await actions_of(hand, build) == [("ci", "build.skip")]


async def test_a_request_that_is_repeated_skips_once(hand: Hand) -> None:
    first = await skipped(hand)
    again = await skipped(hand)
    assert (first.was_there, again.was_there) == (False, True)
    assert again.build == first.build


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (replace(NEW, commit="beef"), WHY),
        (replace(NEW, branch="other"), WHY),
        (replace(NEW, pull_request=8), WHY),
        (NEW, Skip("ci", "another reason")),
    ],
)
async def test_what_differs_is_another_build(hand: Hand, new: NewBuild, why: Skip) -> None:
    first = await skipped(hand)
    assert (await skipped(hand, new, why)).build.number == first.build.number + 1


async def test_after_a_newer_build_of_the_branch_it_is_skipped_anew(hand: Hand) -> None:
    await skipped(hand)
    between: Build = await hand.open(["a--one"])
    assert (await skipped(hand)).build.number == between.number + 1


async def test_the_first_planned_build_is_first_whatever_was_skipped(hand: Hand) -> None:
    await skipped(hand)
    assert (await hand.run({"a--one": "red"})).state is BuildState.ACCEPTED
