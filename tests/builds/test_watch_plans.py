"""What looks at builds again and again does not read the whole queue for it."""

from typing import Any

import pytest
from sqlalchemy import TextClause

from storyshelf.builds.progress_store import COUNTS, DUE
from storyshelf.builds.watch_store import DAMAGED, LEFT_RUNNING, left_running
from tests.builds.facts import run
from tests.builds.hand import Hand
from tests.queue.test_unserved import A_BACKLOG, most_rows_of_a_scan

STORIES = [f"c{number}--x" for number in range(20)]


@pytest.mark.parametrize(
    ("statement", "values"),
    [(COUNTS, {"ids": [1]}), (DAMAGED, {"after_at": None, "after_id": 0, "limit": 50})],
    ids=["sampled", "audited"],
)
async def test_a_build_is_looked_at_without_reading_the_jobs_of_others(
    hand: Hand, statement: TextClause, values: dict[str, Any]
) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await run(hand, "UPDATE builds SET planned_at = planned_at - interval '1 hour'")
    await run(hand, A_BACKLOG)
    await run(hand, "ANALYZE")
    found = {**values, "ids": [build.id]} if "ids" in values else values
    assert await most_rows_of_a_scan(hand.db, statement, found) <= len(STORIES) + 1


async def test_an_audit_counts_the_shards_of_so_many_builds_and_walks_over_none_that_ended(
    hand: Hand,
) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES, shard_cost_ms=100)
    await run(
        hand,
        "INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, ended_at)"
        " SELECT project_id, n, n::text, 'main', 'c0ffee', 'skipped', now()"
        " FROM builds, generate_series(1000, 6000) AS n",
    )
    await run(
        hand,
        "INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, sealed_at,"
        " planned_at, environment_id, planned_generation, generation, open_shards)"
        " SELECT project_id, n, n::text, 'main', 'c0ffee', 'capturing', now(), now(),"
        " environment_id, 1, 1, 100"
        " FROM builds, generate_series(10000, 10299) AS n WHERE state = 'capturing'",
    )
    await run(
        hand,
        "INSERT INTO shards (build_id, generation, number, stories)"
        " SELECT id, 1, n, 1 FROM builds, generate_series(1, 100) AS n WHERE number >= 10000",
    )
    await run(hand, "ANALYZE")
    values = {"after_at": None, "after_id": 0, "limit": 50}
    assert await most_rows_of_a_scan(hand.db, DAMAGED, values, "builds") <= 301
    assert await most_rows_of_a_scan(hand.db, DAMAGED, values, "shards") <= 100  # of each build


async def test_what_is_due_is_found_among_many_builds_that_ended(hand: Hand) -> None:
    build = await hand.upload(STORIES)
    await hand.plan(build, STORIES)
    await run(
        hand,
        "INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, ended_at)"
        " SELECT project_id, n, n::text, 'main', 'c0ffee', 'skipped', now()"
        " FROM builds, generate_series(1000, 6000) AS n",
    )
    await run(hand, "ANALYZE")
    assert await most_rows_of_a_scan(hand.db, DUE, {"limit": 50, "floor_s": 2}, "builds") <= 1


async def test_what_a_cancel_left_is_found_among_many_builds_that_went_back(hand: Hand) -> None:
    left = await hand.upload(STORIES)
    await run(
        hand,
        "INSERT INTO builds (project_id, number, idempotency_key, branch, commit, state, ended_at,"
        " generation) SELECT project_id, n, n::text, 'main', 'c0ffee', 'cancelled', now(), 2"
        " FROM builds, generate_series(1000, 6000) AS n",
    )
    await run(hand, "UPDATE builds SET generation = 2 WHERE id = :id", id=left.id)
    await run(hand, A_BACKLOG)
    await run(
        hand,
        "INSERT INTO jobs (kind, lane, payload, build_id, generation, max_attempts, fair_tag)"
        " SELECT 'capture', 'capture@x', '{}', id, generation, 3, id FROM builds,"
        " generate_series(1, 50) WHERE number BETWEEN 1000 AND 1200",
    )
    await run(hand, "ANALYZE")
    assert await most_rows_of_a_scan(hand.db, LEFT_RUNNING, {"limit": 1}) <= 51
    assert await most_rows_of_a_scan(hand.db, LEFT_RUNNING, {"limit": 1}, "builds") <= 1
    async with hand.db.transaction() as tx:
        assert [build.id for build in await left_running(tx, 200)] == [left.id]
