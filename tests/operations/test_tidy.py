"""Tidying drops builds and then files, step by step, and one process at a time."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.clock import SystemClock
from storyshelf.db.engine import Database
from storyshelf.operations.retention import Limits
from storyshelf.operations.sweep import alone
from storyshelf.operations.tidy import House, tidy
from storyshelf.storage.local import LocalBlobs
from storyshelf.storage.local_sweep import Freed, LocalSweeper
from tests.builds.facts import read
from tests.builds.hand import Hand, a_hand
from tests.operations.house import GRACE, a_day_passes, names_in

RED = {"a--one": "red", "b--two": "red"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    hand = await a_hand(db, LocalBlobs(tmp_path))
    for look in (RED, {**RED, "c--new": "green"}, RED):
        await hand.run(look)
    await a_day_passes(hand, tmp_path)
    return hand


@pytest.fixture
def house(hand: Hand, tmp_path: Path) -> House:
    return House(hand.db, hand.kinds, LocalSweeper(tmp_path), Limits(builds=1, days=1), GRACE)


async def test_builds_go_first_and_then_what_only_they_named(
    house: House, hand: Hand, tmp_path: Path
) -> None:
    told: list[Freed] = []
    await hand.blobs.put(b"nobody names it")
    await a_day_passes(hand, tmp_path)
    done = await tidy(house, SystemClock().now(), tell=told.append)
    assert done is not None
    assert done.freed.blobs >= 1
    assert done.freed == told[-1]
    assert names_in(tmp_path) == {row["key"] for row in await read(hand, "SELECT key FROM blobs")}


async def test_the_lanes_of_environments_that_are_gone_are_forgotten(
    house: House, hand: Hand
) -> None:
    await tidy(house, SystemClock().now())
    tags = await read(hand, "SELECT DISTINCT lane FROM lane_tags WHERE lane LIKE 'capture%'")
    assert [row["lane"] for row in tags] == []


async def test_a_server_whose_clock_is_ahead_sweeps_nothing_that_is_on_its_way(
    house: House, hand: Hand, tmp_path: Path
) -> None:
    fresh = await hand.blobs.put(b"a picture whose row is written next")
    await tidy(house, SystemClock().now() + 2 * GRACE)
    assert fresh in names_in(tmp_path)


async def test_a_consumer_whose_clock_is_ahead_drops_no_build_before_its_days_are_over(
    house: House,
) -> None:
    by_age = replace(house, limits=Limits(builds=None, days=30))
    done = await tidy(by_age, SystemClock().now() + timedelta(days=365))
    assert done is not None
    assert done.builds == 0


async def test_who_comes_second_does_nothing(house: House) -> None:
    async with alone(house.db):
        assert await tidy(house, SystemClock().now()) is None


async def test_each_project_and_each_step_of_the_sweep_is_progress(house: House) -> None:
    touched: list[None] = []
    await tidy(replace(house, touch=lambda: touched.append(None)), SystemClock().now())
    assert len(touched) > 256  # a folder of the storage each, whether it holds anything or not
