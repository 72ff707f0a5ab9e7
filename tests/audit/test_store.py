"""What was done is told in the transaction that did it, or not at all."""

from contextlib import suppress

from sqlalchemy import text

from storyshelf.audit import store
from storyshelf.db.engine import Database
from storyshelf.ids import BuildId, ProjectId

EVENT = store.Event("Ada", "build.cancel", ProjectId(1), BuildId(2), {"reason": "not needed"})


class TakenBackError(Exception):
    """Ends a transaction whose effects are not wanted."""


async def told(db: Database) -> list[tuple[object, ...]]:
    columns = "actor, action, project_id, build_id, detail, at IS NOT NULL"
    async with db.transaction() as tx:
        found = await tx.execute(text(f"SELECT {columns} FROM audit_events"))
        return [tuple(row) for row in found]


async def test_an_event_says_who_did_what_to_what_and_when(db: Database) -> None:
    async with db.transaction() as tx:
        await store.record(tx, EVENT)
    assert await told(db) == [("Ada", "build.cancel", 1, 2, {"reason": "not needed"}, True)]


async def test_what_was_taken_back_is_not_told(db: Database) -> None:
    with suppress(TakenBackError):
        async with db.transaction() as tx:
            await store.record(tx, EVENT)
            raise TakenBackError
    assert await told(db) == []
