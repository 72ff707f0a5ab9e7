from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from storyshelf.db.engine import Database
from storyshelf.ids import ProjectId
from storyshelf.queue import store
from storyshelf.queue.job import Priority
from tests.queue.builders import a_job, a_lease, claimed, enqueued, run, table

LARGE, SMALL = ProjectId(1), ProjectId(2)


async def test_ids_come_back_in_the_order_of_the_jobs(db: Database) -> None:
    async with db.transaction() as tx:
        ids = await store.enqueue(tx, [a_job(lane="build"), a_job(), a_job(lane="build")])
    lanes = {row["id"]: row["lane"] for row in await table(db, "jobs")}
    assert [lanes[job_id] for job_id in ids if job_id] == ["build", "capture@x", "build"]


async def test_a_key_that_a_live_job_has_is_skipped(db: Database) -> None:
    (first,) = await enqueued(db, a_job(dedupe_key="finalise:1"))
    async with db.transaction() as tx:
        ids = await store.enqueue(tx, [a_job(dedupe_key="finalise:1"), a_job()])
    assert ids[0] is None
    assert ids[1] is not None
    assert [row["id"] for row in await table(db, "jobs")] == [first, ids[1]]


async def test_a_key_given_twice_in_one_batch_is_taken_once(db: Database) -> None:
    async with db.transaction() as tx:
        ids = await store.enqueue(tx, [a_job(dedupe_key="a"), a_job(dedupe_key="a")])
    assert [job_id is None for job_id in ids] == [False, True]


async def test_the_key_of_a_finished_job_is_free_again(db: Database) -> None:
    await enqueued(db, a_job(dedupe_key="a", build_id=1))
    async with db.transaction() as tx:
        await store.cancel_jobs(tx, [row["id"] for row in await table(db, "jobs")])
    assert len(await enqueued(db, a_job(dedupe_key="a"))) == 1


async def test_jobs_appear_with_the_callers_commit_or_not_at_all(db: Database) -> None:
    async def refused() -> None:
        async with db.transaction() as tx:
            await store.enqueue(tx, [a_job()])
            raise LookupError

    with pytest.raises(LookupError):
        await refused()
    assert await table(db, "jobs") == []


async def test_a_hint_follows_the_commit_and_only_when_a_job_was_added(db: Database) -> None:
    heard: list[frozenset[str]] = []
    db.announce = heard.append
    async with db.transaction() as tx:
        await store.enqueue(tx, [a_job(dedupe_key="a")])
        assert heard == []
    assert heard == [frozenset({"work"})]
    await enqueued(db, a_job(dedupe_key="a"))
    assert heard == [frozenset({"work"})]


async def test_a_delayed_job_is_deferred_until_its_time(db: Database) -> None:
    await enqueued(db, a_job(delay=timedelta(minutes=5)))
    (row,) = await table(db, "jobs")
    assert row["state"] == "deferred"
    assert row["run_at"] - row["enqueued_at"] == timedelta(minutes=5)


async def test_a_batch_stands_in_line_once_for_each_of_its_jobs(db: Database) -> None:
    await enqueued(db, *[a_job(project_id=LARGE)] * 3)
    await enqueued(db, *[a_job(project_id=LARGE)] * 2)
    tags = [row["fair_tag"] for row in await table(db, "jobs")]
    assert tags == list(range(tags[0], tags[0] + 5))


async def test_a_small_project_is_served_among_the_first_behind_a_large_backlog(
    db: Database,
) -> None:
    await enqueued(db, *[a_job(project_id=LARGE)] * 1000)
    await enqueued(db, *[a_job(project_id=SMALL)] * 10)
    first = await claimed(db, free={"capture@x": 20})
    assert sum(lease.project_id == SMALL for lease in first) == 10


async def test_a_project_that_comes_to_an_empty_lane_does_not_overtake_by_an_old_tag(
    db: Database,
) -> None:
    await enqueued(db, *[a_job(project_id=LARGE)] * 100)
    await claimed(db, free={"capture@x": 100})
    await enqueued(db, *[a_job(project_id=SMALL)] * 10)
    await enqueued(db, *[a_job(project_id=LARGE)] * 10)
    first = await claimed(db, free={"capture@x": 10})
    assert {lease.project_id for lease in first} == {LARGE, SMALL}


async def test_a_higher_class_goes_before_an_earlier_tag(db: Database) -> None:
    await enqueued(db, *[a_job()] * 3)
    (urgent,) = await enqueued(db, a_job(priority=Priority.INTERACTIVE))
    (lease,) = await claimed(db, free={"capture@x": 1})
    assert lease.job_id == urgent


async def test_a_payload_comes_back_as_it_went_in(db: Database) -> None:
    payload = {"shard": 7, "stories": ["a--b", "ünïcode"], "options": {"delay_ms": None}}
    lease = await a_lease(db, payload=payload)
    assert lease.payload == payload


async def test_ten_thousand_jobs_are_one_statement(db: Database) -> None:
    assert len(await enqueued(db, *[a_job(project_id=LARGE)] * 10_000)) == 10_000


@pytest.mark.parametrize("payload", ["[]", "null", "7", '"{}"'])
async def test_a_payload_that_no_claim_could_read_is_refused_by_the_table(
    db: Database, payload: str
) -> None:
    put = (
        "INSERT INTO jobs (kind, lane, payload, max_attempts, fair_tag)"
        f" VALUES ('plan', 'plan', '{payload}', 3, 1)"
    )
    with pytest.raises(IntegrityError, match="ck_jobs_payload"):
        await run(db, put)
