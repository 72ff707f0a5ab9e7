from dataclasses import replace
from datetime import timedelta

from sqlalchemy import text

from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.store import Beat, Consumer, ConsumerState
from tests.queue.builders import run, table

ANN = Consumer(
    id=ConsumerId("ann:1:a"),
    host="ann",
    pid=1,
    version="0.1.0",
    lanes=("plan", "capture@x"),
    kinds=("plan", "capture"),
    environment_id=None,
)
LATELY = timedelta(seconds=35)


async def live(db: Database) -> tuple[store.LiveConsumer, ...]:
    async with db.transaction() as tx:
        return await store.live_consumers(tx, LATELY)


async def registered(db: Database) -> None:
    async with db.transaction() as tx:
        await store.register_consumer(tx, ANN)


async def test_a_consumer_that_registered_is_there_with_its_lanes(db: Database) -> None:
    await registered(db)
    (found,) = await live(db)
    assert (found.consumer, found.state, found.running) == (ANN, ConsumerState.RUNNING, ())


async def test_a_beat_says_what_runs_and_answers_what_is_asked(db: Database) -> None:
    await registered(db)
    async with db.transaction() as tx:
        await store.mark_consumer(tx, ANN.id, ConsumerState.QUIET)
    async with db.transaction() as tx:
        assert (
            await store.beat(tx, ANN.id, Beat([JobId(4), JobId(5)]), LATELY) is ConsumerState.QUIET
        )
    assert [each.running for each in await live(db)] == [(4, 5)]


async def test_a_consumer_that_was_removed_learns_it_from_its_beat(db: Database) -> None:
    await registered(db)
    async with db.transaction() as tx:
        await store.remove_consumer(tx, ANN.id)
        assert await store.beat(tx, ANN.id, Beat([]), LATELY) is None


async def test_a_silent_consumer_is_not_live_and_another_ones_beat_forgets_it(
    db: Database,
) -> None:
    await registered(db)
    await run(db, "UPDATE consumers SET beat_at = now() - interval '1 minute'")
    assert await live(db) == ()
    for silent_for, left in ((timedelta(hours=1), 1), (LATELY, 0)):
        async with db.transaction() as tx:
            await store.beat(tx, ConsumerId("bob:2:b"), Beat([]), silent_for)
        assert len(await table(db, "consumers")) == left


async def test_a_consumer_that_was_silent_itself_lives_on_by_its_own_beat(db: Database) -> None:
    await registered(db)
    await run(db, "UPDATE consumers SET beat_at = now() - interval '1 minute'")
    async with db.transaction() as tx:
        assert await store.beat(tx, ANN.id, Beat([]), LATELY) is ConsumerState.RUNNING
    assert len(await live(db)) == 1


async def test_two_that_take_each_other_for_silent_both_live_on(db: Database) -> None:
    bob = replace(ANN, id=ConsumerId("bob:2:b"))
    async with db.transaction() as tx:
        await store.register_consumer(tx, ANN)
        await store.register_consumer(tx, bob)
    await run(db, "UPDATE consumers SET beat_at = now() - interval '1 minute'")
    async with db.transaction() as first, db.transaction() as second:
        for tx in (first, second):
            await tx.execute(text("SELECT FROM consumers WHERE id = :id FOR UPDATE"),
                             {"id": ANN.id if tx is first else bob.id})  # fmt: skip
        assert await store.beat(first, ANN.id, Beat([]), LATELY) is ConsumerState.RUNNING
        assert await store.beat(second, bob.id, Beat([]), LATELY) is ConsumerState.RUNNING
    assert len(await live(db)) == 2
