"""What every process looks after on its timer."""

from datetime import timedelta
from pathlib import Path

import pytest

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from storyshelf.operations.housekeeping import passes
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import live_kinds, run
from tests.builds.hand import Hand, a_hand

DAY = timedelta(hours=24)
AGE = "UPDATE builds SET created_at = created_at - interval '25 hours'"
CUT_IN_TWO = "UPDATE builds SET state = 'cancelled', ended_at = now(), generation = 2"


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def keep_house(hand: Hand) -> None:
    for each in passes(hand.db, hand.kinds, DAY):
        await each()


async def test_uploads_that_were_given_up_are_ended(hand: Hand) -> None:
    build = await hand.open(["a--one"])
    await run(hand, AGE)
    await keep_house(hand)
    assert (await hand.fresh(build)).state is BuildState.CANCELLED


async def test_cancels_that_were_left_half_done_are_finished(hand: Hand) -> None:
    build = await hand.upload(["a--one"])
    await run(hand, CUT_IN_TWO)
    await keep_house(hand)
    assert await live_kinds(hand, build) == []


async def test_what_is_under_way_is_left_alone(hand: Hand) -> None:
    build = await hand.upload(["a--one"])
    await keep_house(hand)
    assert (await hand.fresh(build)).state is BuildState.QUEUED
    assert await live_kinds(hand, build) == ["plan"]
