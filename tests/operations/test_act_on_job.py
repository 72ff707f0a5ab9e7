"""What a failed job was for is done again; what waits or runs is ended. By the jobs' kinds."""

from pathlib import Path

import pytest

from storyshelf.builds.build import BuildMovedError
from storyshelf.db.engine import Database
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.ids import BuildId, JobId
from storyshelf.operations.act_on_job import (
    RETRIES,
    NoSuchJobError,
    NotToBeReleasedError,
    NotToBeRetriedError,
    cancel_job,
    release_job,
    retry_job,
)
from storyshelf.operations.kinds import every_kind
from storyshelf.operations.tidy_job import tidy_job
from storyshelf.queue import store as queue
from storyshelf.queue.job import Failed, JobState, NewJob
from storyshelf.queue.store import EndedRow
from storyshelf.storage.local import LocalBlobs
from tests.builds.facts import read, run
from tests.builds.hand import Hand, a_hand
from tests.deliveries.courier import Courier
from tests.deliveries.forge import SHOP, TOKEN, FakeForge, running

LOOK = {"a--one": "red"}


@pytest.fixture
async def hand(db: Database, tmp_path: Path) -> Hand:
    return await a_hand(db, LocalBlobs(tmp_path / "blobs"))


async def failed_one(hand: Hand, job: NewJob) -> JobId:
    async with hand.db.transaction() as tx:
        (job_id,) = await queue.enqueue(tx, [job])
    assert job_id is not None
    await hand.settle(await hand.claim(job.lane), Failed("no"))
    return job_id


async def test_a_delivery_that_failed_is_sent_again(hand: Hand) -> None:
    forge, courier = FakeForge(token="another"), Courier(hand)
    with running(forge) as url:
        await courier.connect(ConnectionKind.GITHUB, url, repository=SHOP)
        await hand.run(LOOK)
        await courier.deliver()
        (failed, *_rest) = await read(hand, "SELECT id FROM jobs_done WHERE state = 'failed'")
        forge.token = TOKEN  # the token was put right at the forge
        await retry_job(hand.db, JobId(failed["id"]), "ada")
        assert await courier.deliver() == 1
    assert await read(hand, "SELECT count(*) AS n FROM deliveries WHERE state = 'sent'") == [
        {"n": 1}
    ]
    told = await read(hand, "SELECT actor FROM audit_events WHERE action = 'connection.resend'")
    assert [row["actor"] for row in told] == ["ada"]


async def test_a_delivery_whose_connection_is_gone_is_not_sent(hand: Hand) -> None:
    job_id = await failed_one(hand, NewJob("deliver", "deliver", {"delivery_id": 7, "version": 1}))
    with pytest.raises(NotToBeRetriedError, match="what it was to tell is gone"):
        await retry_job(hand.db, job_id, "ada")


async def test_a_delivery_whose_payload_says_nothing_is_not_sent(hand: Hand) -> None:
    job_id = await failed_one(hand, NewJob("deliver", "deliver", {}))
    with pytest.raises(NotToBeRetriedError, match="nobody can tell"):
        await retry_job(hand.db, job_id, "ada")


async def test_a_tidying_that_failed_is_done_again(hand: Hand) -> None:
    job_id = await failed_one(hand, tidy_job())
    await retry_job(hand.db, job_id, "ada")
    assert await read(hand, "SELECT kind, state FROM jobs") == [{"kind": "tidy", "state": "queued"}]
    told = await read(hand, "SELECT actor FROM audit_events WHERE action = 'job.retry'")
    assert [row["actor"] for row in told] == ["ada"]


async def test_a_plan_without_a_build_or_of_a_build_that_moved_on_is_not_retried(
    hand: Hand,
) -> None:
    alone = await failed_one(hand, NewJob("plan", "plan", {}))
    with pytest.raises(NotToBeRetriedError, match="it was for no build"):
        await retry_job(hand.db, alone, "ada")
    build = await hand.run(LOOK)
    of_build = await failed_one(hand, NewJob("plan", "plan", {}, build_id=build.id))
    with pytest.raises(BuildMovedError):
        await retry_job(hand.db, of_build, "ada")


async def test_a_kind_that_nobody_knows_is_not_retried(hand: Hand) -> None:
    job_id = await failed_one(hand, NewJob("plan", "plan", {}))
    await run(hand, "UPDATE jobs_done SET kind = 'tomorrow'")
    with pytest.raises(NotToBeRetriedError, match="nothing is known of jobs that tomorrow"):
        await retry_job(hand.db, job_id, "ada")


async def test_a_finalise_that_is_cancelled_ends_its_build(hand: Hand) -> None:
    build = await hand.upload(sorted(LOOK))
    await hand.plan(build, sorted(LOOK))
    await hand.capture(build, LOOK)
    (row,) = await read(hand, "SELECT id FROM jobs WHERE kind = 'finalise'")
    await cancel_job(hand.db, hand.kinds, JobId(row["id"]), "ada")
    ended = await hand.fresh(build)
    assert (ended.state, ended.state_reason) == (
        "cancelled",
        "its finalise job was cancelled: cancelled by ada",
    )
    await retry_job(hand.db, JobId(row["id"]), "ada")
    assert (await hand.fresh(build)).state == "queued"


async def test_an_ended_job_is_read_with_what_it_was_for(hand: Hand) -> None:
    job = NewJob("deliver", "deliver", {"x": 1}, build_id=BuildId(7))
    job_id = await failed_one(hand, job)
    async with hand.db.transaction() as tx:
        found = await queue.ended_job(tx, job_id)
    assert found == EndedRow("deliver", JobState.FAILED, BuildId(7), {"x": 1})


async def test_a_job_that_runs_is_asked_back_and_audited(hand: Hand) -> None:
    await hand.upload(sorted(LOOK))
    lease = await hand.claim("plan")
    announced: set[str] = set()
    hand.db.announce = announced.update
    await release_job(hand.db, lease.job_id, "ada")
    (job,) = await read(hand, "SELECT state, release_requested_at FROM jobs WHERE kind = 'plan'")
    assert (job["state"], job["release_requested_at"] is None) == ("running", False)
    (event,) = await read(hand, "SELECT * FROM audit_events WHERE action = 'job.release'")
    assert (event["actor"], event["detail"]) == ("ada", {"job": lease.job_id})
    assert announced == {"cancel"}


async def test_what_nobody_runs_is_not_given_back(hand: Hand) -> None:
    await hand.upload(sorted(LOOK))
    (row,) = await read(hand, "SELECT id FROM jobs WHERE kind = 'plan'")
    with pytest.raises(NotToBeReleasedError, match="nobody runs it"):
        await release_job(hand.db, JobId(row["id"]), "ada")
    await hand.settle(await hand.claim("plan"), Failed("no"))
    with pytest.raises(NotToBeReleasedError, match="it has ended"):
        await release_job(hand.db, JobId(row["id"]), "ada")
    with pytest.raises(NoSuchJobError):
        await release_job(hand.db, JobId(77), "ada")
    assert await read(hand, "SELECT 1 FROM audit_events WHERE action = 'job.release'") == []


def test_every_kind_can_be_retried() -> None:
    assert RETRIES.keys() == {kind.name for kind in every_kind()}
