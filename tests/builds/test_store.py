"""Which build is compared with which, and how lists of builds are read."""

import pytest

from storyshelf.builds import store
from storyshelf.builds.build import Build, BuildState, NoSuchBuildError
from storyshelf.builds.store import BuildFilter
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
