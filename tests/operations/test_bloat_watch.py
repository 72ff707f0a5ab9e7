"""A transaction that is held open is an alarm, and dead rows that nobody clears are cleared."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.operations.alarm_store import alarms
from storyshelf.operations.bloat_watch import (
    OLD_TRANSACTION,
    OPEN_AFTER,
    vacuum_jobs,
    wants_vacuum,
    watch_bloat,
)
from storyshelf.queue.store.bloat import Bloat
from tests.queue.builders import a_job, enqueued, run

AT_ONCE = timedelta(0)
HOLD = "SELECT count(*), pg_current_xact_id() FROM jobs"
FULL = Bloat(
    live_rows=10,
    dead_rows=10_001,
    table_bytes=0,
    index_bytes=0,
    vacuumed_ago=timedelta(minutes=2),
    oldest=None,
)


async def watched(db: Database, open_for: timedelta = OPEN_AFTER) -> Bloat:
    async with db.transaction() as tx:
        return await watch_bloat(tx, open_for)


async def alarm(db: Database) -> Mapping[str, Any] | None:
    async with db.transaction() as tx:
        found = {each.name: each.detail for each in await alarms(tx)}
    return found.get(OLD_TRANSACTION)


async def test_a_transaction_that_is_held_open_raises_the_alarm_with_its_owner(
    db: Database, database_url: str
) -> None:
    other = Database(database_url, application="a long report")
    async with other.transaction() as tx:
        await tx.execute(text(HOLD))
        pid = (await tx.execute(text("SELECT pg_backend_pid()"))).scalar_one()
        found = await watched(db, open_for=AT_ONCE)
        assert found.oldest is not None
        assert found.oldest.pid == pid
    await other.close()
    said = await alarm(db)
    assert said is not None
    assert (said["pid"], said["application"], said["state"]) == (
        pid,
        "a long report",
        "idle in transaction",
    )


async def test_one_that_is_open_for_a_moment_is_no_alarm(db: Database, database_url: str) -> None:
    other = Database(database_url)
    async with other.transaction() as tx:
        await tx.execute(text(HOLD))
        assert (await watched(db)).oldest is not None
    await other.close()
    assert await alarm(db) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (FULL, True),
        (replace(FULL, vacuumed_ago=None), True),
        (replace(FULL, vacuumed_ago=timedelta(seconds=59)), False),
        (replace(FULL, dead_rows=10_000), False),
        (replace(FULL, live_rows=501), False),
    ],
    ids=["mostly dead", "never vacuumed", "autovacuum is at it", "not many", "many live ones"],
)
def test_when_the_leader_vacuums_itself(found: Bloat, expected: bool) -> None:  # noqa: FBT001
    assert wants_vacuum(found) is expected


async def test_a_vacuum_clears_what_is_dead(db: Database) -> None:
    await enqueued(db, *[a_job()] * 500)
    await run(db, "DELETE FROM jobs")
    before = await pages_read(db)
    await vacuum_jobs(db)
    assert await pages_read(db) < before


async def pages_read(db: Database) -> int:
    """How large the table is: a vacuum gives its empty end back."""
    async with db.transaction() as tx:
        found = await tx.execute(text("SELECT pg_relation_size('jobs')"))
        return int(found.scalar_one())
