"""A consumer's row: there at boot, fresh while it lives, gone at the end, and heard when marked."""

import asyncio

import pytest
from sqlalchemy import event, text

from consumer.conduct import Conduct
from consumer.environment import environment_of
from consumer.heartbeat import BEAT_EVERY_S, FORGOTTEN_AFTER, LEAST_GAP_S, Heartbeat
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.store import Consumer, ConsumerState, LiveConsumer
from tests.fakes import FakeClock
from tests.queue.builders import until

ENVIRONMENT = environment_of({"browser": "chromium", "version": "150"})
ADA = Consumer(ConsumerId("host:1:a"), "host", 1, "0.1.0", ("plan",), ("plan",), ENVIRONMENT.id)


class Beating:
    """A heart that beats when the test says so."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.clock = FakeClock()
        self.conduct = Conduct()
        self.heart = Heartbeat(db, self.clock, ADA, ENVIRONMENT, lambda: (JobId(7),), self.conduct)

    async def live(self) -> tuple[LiveConsumer, ...]:
        async with self.db.transaction() as tx:
            return await store.live_consumers(tx, FORGOTTEN_AFTER)

    async def written(self) -> ConsumerState:
        (seen,) = await self.live()
        return seen.state

    async def wish(self, state: ConsumerState) -> None:
        async with self.db.transaction() as tx:
            await store.mark_consumer(tx, ADA.id, state)


@pytest.fixture
async def beating(db: Database) -> Beating:
    made = Beating(db)
    await made.heart.register()
    return made


async def test_a_registered_consumer_is_seen_with_its_environment(beating: Beating) -> None:
    (seen,) = await beating.live()
    assert seen.consumer == ADA
    async with beating.db.transaction() as tx:
        facts = (await tx.execute(text("SELECT facts FROM environments"))).scalar_one()
    assert facts == dict(ENVIRONMENT.facts)


async def test_a_beat_tells_what_is_worked_on(beating: Beating) -> None:
    await beating.heart.beat()
    (seen,) = await beating.live()
    assert seen.running == (JobId(7),)


async def test_a_row_that_was_taken_for_dead_is_written_again(beating: Beating) -> None:
    async with beating.db.transaction() as tx:
        await store.remove_consumer(tx, ADA.id)
    await beating.heart.beat()
    assert [seen.consumer.id for seen in await beating.live()] == [ADA.id]


async def test_a_row_that_is_written_again_says_that_its_consumer_is_quiet(
    beating: Beating,
) -> None:
    beating.conduct.ask(ConsumerState.QUIET)
    await beating.heart.beat()
    async with beating.db.transaction() as tx:
        await store.remove_consumer(tx, ADA.id)
    await beating.heart.beat()
    await beating.heart.beat()
    assert (beating.conduct.state, await beating.written()) == (ConsumerState.QUIET,) * 2


@pytest.mark.parametrize("wish", [ConsumerState.QUIET, ConsumerState.STOPPING])
async def test_a_wish_is_heard_at_the_next_beat(beating: Beating, wish: ConsumerState) -> None:
    await beating.wish(wish)
    await beating.heart.beat()
    assert (beating.conduct.state, await beating.written()) == (wish, wish)


async def test_a_consumer_that_became_quiet_by_itself_says_so(beating: Beating) -> None:
    beating.conduct.ask(ConsumerState.QUIET)
    await beating.heart.beat()
    assert await beating.written() is ConsumerState.QUIET


async def test_who_is_quiet_already_still_hears_that_it_is_to_stop(beating: Beating) -> None:
    beating.conduct.ask(ConsumerState.QUIET)
    await beating.wish(ConsumerState.STOPPING)
    await beating.heart.beat()
    assert beating.conduct.state is ConsumerState.STOPPING


async def test_after_the_goodbye_nobody_is_there(beating: Beating) -> None:
    await beating.heart.say_goodbye()
    assert await beating.live() == ()


async def test_no_beat_brings_a_row_back_after_the_goodbye(beating: Beating) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(beating.heart.say_goodbye())
        group.create_task(beating.heart.beat())
    await beating.heart.beat()
    assert await beating.live() == ()


async def test_who_is_told_to_hurry_beats_at_once(beating: Beating) -> None:
    beats: list[object] = []
    event.listen(beating.db.engine.sync_engine, "commit", beats.append)
    await beating.wish(ConsumerState.STOPPING)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(beating.heart.run_forever())
        await beating.clock.settle()
        assert len(beats) == 1  # the wish's own
        beating.heart.now.set()
        await until(lambda: beating.conduct.state is ConsumerState.STOPPING)
        running.cancel()


async def test_who_is_told_to_hurry_without_end_beats_once_a_second(beating: Beating) -> None:
    """A hint costs its sender nothing, and needs no right but to connect."""
    beats: list[object] = []
    event.listen(beating.db.engine.sync_engine, "commit", beats.append)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(beating.heart.run_forever())
        beating.heart.now.set()
        await until(lambda: beating.clock.longest_sleep == LEAST_GAP_S)
        beating.heart.now.set()
        await beating.clock.settle()
        assert (len(beats), beating.clock.longest_sleep) == (1, LEAST_GAP_S)
        await beating.clock.advance(LEAST_GAP_S)
        await until(lambda: len(beats) == 2)
        running.cancel()


async def test_a_database_that_is_away_is_waited_out() -> None:
    nowhere = Beating(Database("postgresql://nobody@127.0.0.1:1/nothing"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(nowhere.heart.run_forever())
        for _ in range(2):
            await nowhere.clock.advance(BEAT_EVERY_S)
            await until(lambda: nowhere.clock.sleeping == 1)
        assert not running.done()
        running.cancel()
    await nowhere.db.close()


async def test_the_probe_of_the_hint_line_is_a_beat(beating: Beating) -> None:
    connection = await beating.db.direct_connection()
    await beating.wish(ConsumerState.QUIET)
    await beating.heart.beat_on(connection)
    (seen,) = await beating.live()
    assert seen.running == (JobId(7),)
    assert beating.conduct.state is ConsumerState.QUIET
    await connection.close()


async def test_a_probe_before_the_row_is_there_only_probes(db: Database) -> None:
    early = Beating(db)
    connection = await db.direct_connection()
    await early.heart.beat_on(connection)
    assert await early.live() == ()
    await connection.close()


async def test_while_probes_beat_nothing_else_has_to(beating: Beating) -> None:
    connection = await beating.db.direct_connection()
    opened: list[object] = []
    event.listen(beating.db.engine.sync_engine, "begin", opened.append)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(beating.heart.run_forever())
        for _ in range(4):
            await beating.clock.advance(BEAT_EVERY_S - 5)
            await beating.heart.beat_on(connection)
        assert opened == []
        await beating.clock.advance(BEAT_EVERY_S)
        await until(lambda: len(opened) == 1)
        running.cancel()
    await connection.close()
