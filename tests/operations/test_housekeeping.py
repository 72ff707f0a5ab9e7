"""What every process looks after on its timer."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from storyshelf.builds.build import BuildState
from storyshelf.db.engine import Database
from storyshelf.operations.housekeeping import passes
from storyshelf.projects import store as projects
from storyshelf.queue.expiry import ExpiryTimer
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import live_kinds, read, run
from tests.builds.hand import Hand, a_hand
from tests.fakes import FakeClock

DAY = timedelta(hours=24)
AGE = "UPDATE builds SET created_at = created_at - interval '25 hours'"
LONG_ENDED_SESSION = """
INSERT INTO sessions (user_id, secret_hash, user_agent, idle, expires_at)
SELECT id, sha256('x'), 'browser', '1 day', now() - interval '8 days' FROM users
"""
CUT_IN_TWO = "UPDATE builds SET state = 'cancelled', ended_at = now(), generation = 2"


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def keep_house(hand: Hand) -> None:
    also = passes(hand.db, hand.kinds, DAY)
    await ExpiryTimer(hand.db, hand.kinds, FakeClock(), lambda: 0.0, also).run_once()


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


async def test_deletions_that_were_cut_off_are_finished(hand: Hand) -> None:
    await hand.upload(["a--one"])
    async with hand.db.transaction() as tx:
        await projects.begin_deleting(tx, hand.project.id)
    await keep_house(hand)
    assert await read(hand, "SELECT id FROM projects") == []


async def test_sessions_that_ended_long_ago_are_forgotten(hand: Hand) -> None:
    await run(hand, "INSERT INTO users (email, name) VALUES ('ada@example.org', 'Ada')")
    await run(hand, LONG_ENDED_SESSION)
    await keep_house(hand)
    assert await read(hand, "SELECT id FROM sessions") == []


async def test_where_nothing_is_to_be_done_a_pass_is_one_transaction(hand: Hand) -> None:
    await hand.upload(["a--one"])
    opened: list[object] = []
    event.listen(hand.db.engine.sync_engine, "begin", opened.append)
    await keep_house(hand)
    assert len(opened) == 1
