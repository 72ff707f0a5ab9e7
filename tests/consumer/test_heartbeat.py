"""A consumer's row: there at boot, fresh while it lives, gone at the end, and heard when marked."""

import pytest
from sqlalchemy import text

from consumer.environment import environment_of
from consumer.heartbeat import SILENT_FOR, Heartbeat
from storyshelf.db.engine import Database
from storyshelf.ids import ConsumerId, JobId
from storyshelf.queue import store
from storyshelf.queue.store import Beat, Consumer, ConsumerState, LiveConsumer
from tests.fakes import FakeClock

ENVIRONMENT = environment_of({"browser": "chromium", "version": "150"})
ADA = Consumer(ConsumerId("host:1:a"), "host", 1, "0.1.0", ("plan",), ("plan",), ENVIRONMENT.id)


class Beating:
    """A heart that beats when the test says so."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.wishes: list[ConsumerState] = []
        self.says = Beat((JobId(7),))
        self.heart = Heartbeat(
            db, FakeClock(), ADA, ENVIRONMENT, lambda: self.says, self.wishes.append
        )

    async def live(self) -> tuple[LiveConsumer, ...]:
        async with self.db.transaction() as tx:
            return await store.live_consumers(tx, SILENT_FOR)


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


async def test_a_wish_is_heard_at_the_next_beat(beating: Beating) -> None:
    async with beating.db.transaction() as tx:
        await store.mark_consumer(tx, ADA.id, ConsumerState.QUIET)
    await beating.heart.beat()
    assert beating.wishes == [ConsumerState.QUIET]


async def test_a_consumer_that_became_quiet_by_itself_says_so(beating: Beating) -> None:
    beating.says = Beat((), ConsumerState.QUIET)
    await beating.heart.beat()
    assert [seen.state for seen in await beating.live()] == [ConsumerState.QUIET]


async def test_who_is_quiet_already_still_hears_that_it_is_to_stop(beating: Beating) -> None:
    beating.says = Beat((), ConsumerState.QUIET)
    async with beating.db.transaction() as tx:
        await store.mark_consumer(tx, ADA.id, ConsumerState.STOPPING)
    await beating.heart.beat()
    assert beating.wishes == [ConsumerState.STOPPING]


async def test_after_the_goodbye_nobody_is_there(beating: Beating) -> None:
    await beating.heart.say_goodbye()
    assert await beating.live() == ()
