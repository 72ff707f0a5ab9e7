"""What is on the lanes is noted each minute, and forgotten in time."""

from datetime import timedelta

from storyshelf.db.engine import Database
from storyshelf.operations.samples import sample_lanes
from storyshelf.queue.job import Priority
from tests.queue.builders import a_job, claimed, enqueued, run, table

NOTHING = timedelta()
AN_HOUR_AGO = "UPDATE lane_samples SET minute = minute - interval '1 hour'"


async def test_each_lane_and_class_is_sampled(db: Database) -> None:
    await enqueued(db, a_job(), a_job(), a_job(lane="plan", priority=Priority.INTERACTIVE))
    await claimed(db, free={"capture@x": 1})
    await sample_lanes(db, NOTHING)
    capture, plan = await table(db, "lane_samples")
    if capture["lane"] == "plan":
        capture, plan = plan, capture
    assert (capture["queued"], capture["running"], capture["priority"]) == (1, 1, 10)
    assert (plan["queued"], plan["running"], plan["priority"]) == (1, 0, 20)
    assert plan["oldest_s"] >= 0


async def test_a_lane_on_which_nothing_waits_has_no_oldest(db: Database) -> None:
    await enqueued(db, a_job())
    await claimed(db)
    await sample_lanes(db, NOTHING)
    (sample,) = await table(db, "lane_samples")
    assert sample["oldest_s"] is None


async def test_a_second_sample_of_a_minute_replaces_the_first(db: Database) -> None:
    await enqueued(db, a_job())
    await sample_lanes(db, timedelta(days=1))
    await run(db, "UPDATE lane_samples SET minute = date_trunc('minute', now()), queued = 99")
    await sample_lanes(db, timedelta(days=1))
    assert [row["queued"] for row in await table(db, "lane_samples")][-1] == 1


async def test_without_history_only_the_newest_minute_is_kept(db: Database) -> None:
    await enqueued(db, a_job())
    await sample_lanes(db, NOTHING)
    await run(db, AN_HOUR_AGO)
    await sample_lanes(db, NOTHING)
    assert len(await table(db, "lane_samples")) == 1


async def test_with_history_samples_are_kept_for_its_days(db: Database) -> None:
    await enqueued(db, a_job())
    for _ in range(3):
        await sample_lanes(db, timedelta(minutes=90))
        await run(db, AN_HOUR_AGO)
    await sample_lanes(db, timedelta(minutes=90))
    assert len(await table(db, "lane_samples")) == 2
