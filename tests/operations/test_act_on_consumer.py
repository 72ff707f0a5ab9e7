"""What a consumer can be asked, from where, and what is written of it."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from storyshelf.db.engine import Database
from storyshelf.operations.act_on_consumer import (
    ASKED_FROM,
    STATES,
    NoSuchConsumerError,
    NotToBeAskedError,
    Wish,
    ask_consumer,
)
from storyshelf.queue import store
from storyshelf.queue.store import ConsumerState
from storyshelf.queue.unserved import SILENT_FOR
from tests.queue.builders import ANN, run, table


async def ann(db: Database, state: ConsumerState = ConsumerState.RUNNING) -> None:
    async with db.transaction() as tx:
        await store.register_consumer(
            tx, store.Consumer(ANN, "node-7", 1, "1.2.3", ("plan",), ("plan",), None)
        )
        await store.mark_consumer(tx, ANN, state)


@pytest.mark.parametrize("state", ConsumerState)
@pytest.mark.parametrize("wish", Wish)
async def test_every_wish_in_every_state_is_done_or_refused(
    db: Database, wish: Wish, state: ConsumerState
) -> None:
    await ann(db, state)
    announced: set[str] = set()
    db.announce = announced.update
    if state in ASKED_FROM[wish]:
        await ask_consumer(db, ANN, wish, "ada")
        expected = (STATES[wish], {"consumers"}, [(f"consumer.{wish}", "ada", {"consumer": ANN})])
    else:
        with pytest.raises(NotToBeAskedError, match="cannot be asked that: it"):
            await ask_consumer(db, ANN, wish, "ada")
        expected = (state, set(), [])
    (row,) = await table(db, "consumers")
    events = await table(db, "audit_events")
    told = [(event["action"], event["actor"], event["detail"]) for event in events]
    assert (row["state"], announced, told) == expected


async def test_a_consumer_that_was_not_heard_of_for_long_is_asked_nothing(db: Database) -> None:
    await ann(db)
    await run(db, "UPDATE consumers SET beat_at = now() - interval '2 minutes'")
    with pytest.raises(NoSuchConsumerError, match="the last 60 s"):
        await ask_consumer(db, ANN, Wish.STOP, "ada")
    assert [row["state"] for row in await table(db, "consumers")] == ["running"]


async def test_two_who_ask_at_once_are_heard_one_after_the_other(db: Database) -> None:
    await ann(db)
    async with db.transaction() as first, db.transaction() as second:
        assert await store.lock_consumer(first, ANN, SILENT_FOR) is ConsumerState.RUNNING
        await second.execute(text("SET LOCAL lock_timeout = '50ms'"))
        with pytest.raises(DBAPIError, match="lock timeout"):
            await store.lock_consumer(second, ANN, SILENT_FOR)
