"""A job that failed tells which one does again what it was for, whoever asked and wherever."""

from pathlib import Path

import pytest

from storyshelf.builds.cancel_build import Cancel, cancel_build
from storyshelf.builds.capture_again import capture_again, retry_shard
from storyshelf.db.engine import Database
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.ids import JobId
from storyshelf.operations.act_on_job import retry_job
from storyshelf.operations.asked_again import Again, asked_again
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed, NewJob, Outcome
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import live_jobs, read
from tests.builds.hand import CAPTURE_LANE, Hand, a_hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import SHOP, FakeForge, running

LOOK = {"a--one": "red", "b--one": "blue"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def again(hand: Hand, job_id: JobId) -> Again | None:
    async with hand.db.transaction() as tx:
        job = await queue.known_job(tx, job_id)
        assert job is not None
        return await asked_again(tx, job)


async def failing(hand: Hand, lane: str) -> JobId:
    lease = await hand.claim(lane)
    await hand.settle(lease, Failed("no", Outcome.CRASHED))
    return lease.job_id


async def test_a_build_that_is_captured_again_is_planned_by_another_job(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    failed = await failing(hand, "plan")
    assert await again(hand, failed) is None
    await capture_again(hand.db, build.id, "ada")
    (row,) = await live_jobs(hand, build)
    assert await again(hand, failed) == Again(row["id"])


async def test_what_was_cancelled_with_its_build_was_not_asked_again(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    (row,) = await live_jobs(hand, build)
    cancelled = JobId(row["id"])
    await cancel_build(hand.db, hand.kinds, build.id, Cancel("ada", "not now"))
    assert await again(hand, cancelled) is None
    new = await retry_job(hand.db, cancelled, "ada")
    assert new is not None
    assert await again(hand, cancelled) == Again(new)


async def test_a_shard_is_captured_by_another_job_and_others_are_not(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK), shard_cost_ms=100)
    first, second = await failing(hand, CAPTURE_LANE), await failing(hand, CAPTURE_LANE)
    await hand.finalise(build)
    new = await retry_job(hand.db, first, "ada")
    assert new is not None
    assert await again(hand, first) == Again(new)
    assert await again(hand, second) is None  # though its build has a generation more
    await retry_shard(hand.db, build.id, 2, "ada")
    assert await again(hand, second) is not None


async def test_a_shard_whose_build_is_captured_again_is_told_of_the_plan(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    failed = await failing(hand, CAPTURE_LANE)
    await hand.finalise(build)
    await capture_again(hand.db, build.id, "ada")
    (row,) = await live_jobs(hand, build)
    assert await again(hand, failed) == Again(row["id"])


async def test_a_delivery_that_is_asked_again_is_told_of(hand: Hand) -> None:
    courier = Courier(hand)
    with running(FakeForge(token="another")) as url:
        await courier.connect(ConnectionKind.GITHUB, url, repository=SHOP)
        await hand.run(LOOK)
        await courier.deliver()
    (failed, *_rest) = await read(hand, "SELECT id FROM jobs_done WHERE state = 'failed'")
    job_id = JobId(failed["id"])
    assert await again(hand, job_id) is None
    new = await retry_job(hand.db, job_id, "ada")
    assert new is not None
    assert new > job_id
    assert await again(hand, job_id) == Again(None)


@pytest.mark.parametrize("kind", ["capture", "deliver", "plan", "tidy"])
async def test_nothing_is_told_of_a_job_whose_payload_says_nothing(hand: Hand, kind: str) -> None:
    async with hand.db.transaction() as tx:
        (job_id,) = await queue.enqueue(tx, [NewJob(kind, "plan", {})])
    assert job_id is not None
    assert await again(hand, job_id) is None  # it waits still
    await failing(hand, "plan")
    assert await again(hand, job_id) is None
